//! Resource limits, from `/proc/PID/limits`.

use std::collections::BTreeMap;

/// Every row as `max_open_files` → `soft:hard`.
pub fn resources(text: &str) -> BTreeMap<String, String> {
    text.lines().skip(1).filter_map(row).collect()
}

/// Columns stand apart by two spaces or more, but the last, the unit, may be missing.
fn row(line: &str) -> Option<(String, String)> {
    let columns = line.split("  ").map(str::trim);
    let mut columns = columns.filter(|column| !column.is_empty());
    let (name, soft, hard) = (columns.next()?, columns.next()?, columns.next()?);
    let name = name.to_lowercase().replace(' ', "_");
    Some((name, format!("{soft}:{hard}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_told_with_soft_and_hard_limit() {
        let found = resources(
            "\
Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max open files            1024                 20000                files     
Max nice priority         0                    0                    
",
        );
        assert_eq!(found["max_cpu_time"], "unlimited:unlimited");
        assert_eq!(found["max_open_files"], "1024:20000");
        assert_eq!(found["max_nice_priority"], "0:0");
        assert_eq!(found.len(), 3);
    }
}
