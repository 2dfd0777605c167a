//! What is printed of a load.

use std::process::Output;

use serde_json::Value;

use crate::{Scratch, drive, read, well};

/// A load of 200 operations, printed in a form.
fn printed(scratch: &Scratch, words: &[&str]) -> (String, Output) {
    let common = ["fake://?service_us=10", "--workload", "a", "--out", "run"];
    // One load after another into the same directory is refused.
    let _ = std::fs::remove_dir_all(scratch.0.join("run"));
    let all = [&common[..], &["--operations", "200"], words].concat();
    let output = drive(&scratch.0, &all);
    well(&output);
    (String::from_utf8(output.stdout.clone()).unwrap(), output)
}

#[test]
fn the_summary_is_printed_for_people_unless_another_form_is_typed() {
    let scratch = Scratch::new();
    let (told, output) = printed(&scratch, &[]);
    assert!(told.starts_with("fake run: 200 operations in "), "{told}");
    for word in [
        "service times",
        "\nread ",
        "\nupdate ",
        "\nall ",
        "engine: ",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
    // Standard error is no terminal here.
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains('\x1b'), "{said}");
    let (text, _) = printed(&scratch, &["--format", "text"]);
    assert!(text.starts_with("fake run: 200 operations in "), "{text}");
}

#[test]
fn json_is_what_stands_in_the_directory() {
    let scratch = Scratch::new();
    let (told, _) = printed(&scratch, &["--format", "json", "--threads", "2"]);
    let summary: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(summary, read(&scratch.0.join("run"), "summary.json"));
    assert_eq!(summary["version"], 1);
    assert_eq!(summary["level"]["threads"], 2);
    let all = &summary["operations"]["all"];
    assert_eq!(all["count"], 200);
    assert_eq!(all["service"]["count"], 200);
    assert_eq!(all["response"], Value::Null);
    let quantile = |name: &str| all["service"]["quantiles"][name].as_f64().unwrap();
    assert!(quantile("p50") <= quantile("p99.99"));
    let first = summary["first_operation"].as_f64().unwrap();
    assert!(first >= 0.0, "{first}");
    let result = read(&scratch.0.join("run"), "result.json");
    assert_eq!(summary["saturated"], result["saturated"]);
    assert_eq!(summary["ended_early"], false);
}

#[test]
fn the_lines_of_ycsb_have_a_count_for_each_return_code() {
    let scratch = Scratch::new();
    let (told, _) = printed(&scratch, &["--format", "ycsb"]);
    let mut lines = told.lines();
    let first = lines.next().unwrap();
    assert!(first.starts_with("[OVERALL], RunTime(ms), "), "{told}");
    let second = lines.next().unwrap();
    assert!(second.starts_with("[OVERALL], Throughput(ops/sec), "));
    let mut codes = 0;
    for kind in ["READ", "UPDATE"] {
        for what in [
            "Operations",
            "AverageLatency(us)",
            "MinLatency(us)",
            "MaxLatency(us)",
            "95thPercentileLatency(us)",
            "99thPercentileLatency(us)",
        ] {
            let line = lines.next().unwrap();
            let begin = format!("[{kind}], {what}, ");
            let value = line
                .strip_prefix(&begin)
                .unwrap_or_else(|| panic!("{line}"));
            assert!(value.parse::<f64>().is_ok(), "{line}");
        }
        let line = lines.next().unwrap();
        let count = line.strip_prefix(&format!("[{kind}], Return=OK, "));
        codes += count.unwrap().parse::<u64>().unwrap();
    }
    assert_eq!((codes, lines.next()), (200, None));
}

#[test]
fn a_line_that_stands_in_no_table_is_not_on_standard_output() {
    let scratch = Scratch::new();
    let words = ["--interval", "10ms", "--format", "json"];
    let (told, _) = printed(&scratch, &words);
    // Progress for programs is what `load` prints.
    assert!(!told.contains("\"elapsed\""), "{told}");
}
