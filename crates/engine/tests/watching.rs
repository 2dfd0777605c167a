//! The real program: `pause` holds a process for the declared share, `sample` ends in good order.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Where others take both processors, single stops begin too late or last too long, and no pauser can
/// help it. So the share is judged piece by piece, and one piece has to hold.
const LONGEST: Duration = Duration::from_secs(40);

/// A child and a directory that do not outlive the test.
struct Scene {
    busy: Child,
    directory: PathBuf,
}

impl Scene {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let busy = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        Self { busy, directory }
    }

    /// Start `pause` on the child with more words; returns it and its file.
    fn paused(&self, words: &[&str]) -> (Child, PathBuf) {
        let out = self.directory.join("pause.jsonl");
        let pause = engine()
            .arg("pause")
            .args(words)
            .args(["--pid", &self.busy.id().to_string()])
            .arg("--out")
            .arg(&out)
            .spawn()
            .unwrap();
        (pause, out)
    }

    /// Seconds in which the child ran or waited for a processor: all but those it was stopped.
    fn runnable(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/schedstat", self.busy.id())).unwrap();
        text.split_whitespace()
            .take(2)
            .map(|word| word.parse::<f64>().unwrap())
            .sum::<f64>()
            / 1e9
    }

    fn state(&self) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.busy.id())).unwrap();
        status
            .lines()
            .find(|line| line.starts_with("State"))
            .unwrap()
            .to_owned()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.busy.kill();
        let _ = self.busy.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn engine() -> Command {
    Command::new(env!("CARGO_BIN_EXE_dunnage-engine"))
}

fn end(child: &mut Child) -> bool {
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).unwrap();
    child.wait().unwrap().success()
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(began.elapsed() < LONGEST, "{what} did not come");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_busy_process_loses_the_declared_share_and_runs_on_afterwards() {
    let scene = Scene::new("pause-share");
    let (mut pause, out) = scene.paused(&["--share", "0.2", "--period", "0.02"]);
    let lines = || fs::read_to_string(&out).unwrap_or_default().lines().count();
    wait_for("the second line", || lines() >= 2);
    wait_for("a second and a half at the declared share", || {
        let (began, before) = (Instant::now(), scene.runnable());
        let first = lines();
        wait_for("a second and a half of lines", || lines() >= first + 150);
        let (after, seconds) = (scene.runnable(), began.elapsed().as_secs_f64());
        // How much exactly, only the file tells: the two clocks above are not read at one moment.
        let lost = 1.0 - (after - before) / seconds;
        let points = points(&out);
        let (one, other) = (points[first - 1], points[first + 148]);
        let told = (other.1 - one.1) / (other.0 - one.0);
        eprintln!("lost {lost}, told {told}");
        lost > 0.05 && (told - 0.2).abs() < 0.04
    });
    assert!(end(&mut pause));
    assert!(scene.state().contains('R'), "{}", scene.state());
}

/// Time and seconds stopped so far, of every line that is whole.
fn points(out: &Path) -> Vec<(f64, f64)> {
    fs::read_to_string(out)
        .unwrap()
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| {
            (
                line["time"].as_f64().unwrap(),
                line["paused"].as_f64().unwrap(),
            )
        })
        .collect()
}

#[test]
fn what_passed_in_the_turns_of_others_is_not_made_up_for() {
    let scene = Scene::new("pause-frozen");
    let (mut pause, out) = scene.paused(&["--share", "0.2", "--period", "0.02"]);
    let lines = || fs::read_to_string(&out).unwrap_or_default().lines().count();
    wait_for("the second line", || lines() >= 2);
    let itself = Pid::from_raw(pause.id().cast_signed());
    wait_for(
        "a turn with no more than the declared share after it",
        || {
            let first = lines();
            kill(itself, Signal::SIGSTOP).unwrap();
            sleep(Duration::from_secs(1));
            kill(itself, Signal::SIGCONT).unwrap();
            let before = lines();
            wait_for("a second of lines", || lines() >= before + 120);
            let points = points(&out);
            let gap = (first..points.len())
                .find(|at| points[*at].0 - points[at - 1].0 > 0.9)
                .expect("no line was written meanwhile");
            let (one, other) = (points[gap], points[points.len() - 2]);
            let share = (other.1 - one.1) / (other.0 - one.0);
            eprintln!("stopped for {share} afterwards");
            (share - 0.2).abs() < 0.05
        },
    );
    assert!(end(&mut pause));
    assert!(scene.state().contains('R'), "{}", scene.state());
}

#[test]
fn with_a_rest_a_process_is_left_alone_for_half_of_the_time_from_a_moment_on() {
    let scene = Scene::new("pause-rest");
    let begin = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(3);
    let moment = begin.as_secs_f64().to_string();
    let words = [
        "--share", "0.5", "--period", "0.1", "--rest", "0.4", "--begin", &moment,
    ];
    let (mut pause, out) = scene.paused(&words);
    let lines = || {
        let text = fs::read_to_string(&out).unwrap_or_default();
        let whole = text.lines().filter(|line| line.ends_with('}'));
        whole
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .collect::<Vec<_>>()
    };
    let value = |line: &serde_json::Value, key: &str| line[key].as_f64().unwrap();
    let moment = begin.as_secs_f64();
    wait_for("four rounds with a quarter of their time stopped", || {
        let lines = lines();
        let mut first = moment;
        while let Some(share) = stopped(&lines, first, first + 3.2) {
            if (0.15..0.35).contains(&share) {
                return true;
            }
            first += 0.8;
        }
        false
    });
    assert!(end(&mut pause));
    let lines = lines();
    assert!(value(&lines[0], "paused") == 0.0 && value(&lines[0], "time") < moment);
    assert!(value(lines.last().unwrap(), "cpu") > 0.0);
}

/// The share of a time in which a process was stopped, from the last line before its beginning to the
/// first one after its end; None where there is none yet.
fn stopped(lines: &[serde_json::Value], from: f64, to: f64) -> Option<f64> {
    let value = |line: &serde_json::Value, key: &str| line[key].as_f64().unwrap();
    let first = lines.iter().rfind(|line| value(line, "time") <= from)?;
    let last = lines.iter().find(|line| value(line, "time") > to)?;
    let paused = value(last, "paused") - value(first, "paused");
    Some(paused / (value(last, "time") - value(first, "time")))
}

#[test]
fn a_process_that_does_not_exist_is_an_error_and_the_others_run_on() {
    let scene = Scene::new("pause-error");
    let done = engine()
        .args(["pause", "--share", "0.5", "--period", "0.5", "--pid"])
        .args([&scene.busy.id().to_string(), "--pid", "4194304"])
        .arg("--out")
        .arg(scene.directory.join("pause.jsonl"))
        .output()
        .unwrap();
    assert!(!done.status.success());
    assert!(String::from_utf8_lossy(&done.stderr).contains("process 4194304 cannot be stopped"));
    assert!(scene.state().contains('R'), "{}", scene.state());
}

#[test]
fn processes_run_in_their_own_turns_only_and_all_go_on_afterwards() {
    let (one, other) = (Scene::new("turns-one"), Scene::new("turns-other"));
    let order = ["one", "one", "one", "other"].repeat(5);
    let plan = serde_json::json!({
        "version": 4,
        "pids": {"one": [one.busy.id()], "other": [other.busy.id()]},
        "groups": {},
        "order": order,
        "seconds": 0.05,
        "rest": 0.05,
        "control": 0.002,
    });
    let (file, out) = (
        one.directory.join("plan"),
        one.directory.join("turns.jsonl"),
    );
    fs::write(&file, plan.to_string()).unwrap();
    let (before, before_other) = (one.runnable(), other.runnable());
    let done = engine()
        .arg("turns")
        .arg("--plan")
        .arg(&file)
        .arg("--out")
        .arg(&out)
        .status()
        .unwrap();
    let (ran, ran_other) = (one.runnable() - before, other.runnable() - before_other);
    assert!(done.success());
    let turns: Vec<serde_json::Value> = fs::read_to_string(&out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = turns
        .iter()
        .map(|turn| turn["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, order);
    for turn in &turns {
        for rate in ["arithmetic", "loopback"] {
            assert!(turn["control"][rate].as_f64().unwrap() > 0.0, "{turn}");
        }
    }
    for pair in turns.windows(2) {
        assert!(pair[0]["ended"].as_f64() <= pair[1]["began"].as_f64());
    }
    let lasted = |name: &str| -> f64 {
        let own = turns.iter().filter(|turn| turn["name"] == name);
        own.map(|turn| turn["ended"].as_f64().unwrap() - turn["began"].as_f64().unwrap())
            .sum()
    };
    // Both run before the first turn and after the last. How long turns last depends on the machine.
    let (longer, told) = (ran - ran_other, lasted("one") - lasted("other"));
    assert!(told > 0.0 && longer > 0.5 * told, "{longer} s of {told} s");
    for scene in [&one, &other] {
        wait_for("that it goes on", || scene.state().contains('R'));
    }
}

#[test]
fn a_sampler_that_is_told_to_end_takes_a_last_sample_and_counts() {
    let scene = Scene::new("sample-end");
    let plan = r#"{"version":5,"host":"db-1","address":"127.0.0.1","rate":20,"units":{"":"/","gone":"/no/such/group"},"networks":{}}"#;
    fs::write(scene.directory.join("watch.json"), plan).unwrap();
    let mut sample = engine()
        .arg("sample")
        .arg("--plan")
        .arg(scene.directory.join("watch.json"))
        .arg("--out")
        .arg(&scene.directory)
        .spawn()
        .unwrap();
    let out = scene.directory.join("samples.jsonl");
    let read = || fs::read_to_string(&out).unwrap_or_default();
    wait_for("the third sample", || read().lines().count() >= 4);
    assert!(end(&mut sample));
    let lines: Vec<serde_json::Value> = read()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (header, footer) = (&lines[0], &lines[lines.len() - 1]);
    assert_eq!(header["line"], "header");
    assert!(
        header["absent"]["gone"]
            .as_str()
            .unwrap()
            .contains("/no/such/group")
    );
    assert_eq!(footer["line"], "footer");
    assert_eq!(
        footer["samples"].as_u64().unwrap() as usize,
        lines.len() - 2
    );
    let cpu = |line: &serde_json::Value| line["units"][""]["cpu"].as_f64().unwrap();
    assert!(cpu(&lines[lines.len() - 2]) > cpu(&lines[1]));
}
