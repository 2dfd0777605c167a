//! The file that YCSB's `fieldlengthhistogram` names.

use wire::load::FieldLengths;

/// Read `BlockSize`, a tab and a number of bytes, then lines of a bucket, a tab and a count; the
/// error is one sentence. As in YCSB a bucket that is there already moves up, with those after it.
pub fn parse(text: &str) -> Result<FieldLengths, String> {
    let mut lines = text.lines();
    let block = lines
        .next()
        .and_then(|line| line.strip_prefix("BlockSize\t"))
        .and_then(|size| size.parse().ok())
        .ok_or("line 1 must be `BlockSize`, a tab and a number of bytes")?;
    let mut counts = Vec::new();
    for (number, line) in (2..).zip(lines) {
        let (bucket, count) = line
            .split_once('\t')
            .and_then(|(bucket, count)| {
                Some((bucket.parse::<usize>().ok()?, count.parse::<u64>().ok()?))
            })
            .filter(|(bucket, _)| *bucket <= counts.len())
            .ok_or_else(|| {
                format!("line {number} must be the next bucket (from 0), a tab and a count")
            })?;
        counts.insert(bucket, count);
    }
    if counts.iter().all(|count| *count == 0) {
        return Err("one of the counts must be more than 0".to_owned());
    }
    Ok(FieldLengths::Histogram { block, counts })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_and_counts_are_read() {
        let (block, counts) = (10, vec![3, 0, 7]);
        let expected = Ok(FieldLengths::Histogram { block, counts });
        assert_eq!(parse("BlockSize\t10\n0\t3\n1\t0\n2\t7\n"), expected);
        assert_eq!(parse("BlockSize\t10\r\n0\t0\r\n0\t3\r\n2\t7"), expected);
    }

    #[test]
    fn what_ycsb_cannot_read_or_draw_from_is_refused_with_the_line() {
        for (text, what) in [
            ("", "line 1 must be `BlockSize`"),
            ("BlockSize 10\n0\t1", "line 1 must be `BlockSize`"),
            ("BlockSize\tx\n0\t1", "line 1 must be `BlockSize`"),
            ("BlockSize\t10\n1\t1", "line 2 must be the next bucket"),
            ("BlockSize\t10\n0\t1\n1 1", "line 3 must be the next bucket"),
            ("BlockSize\t10\n0\t-1", "line 2 must be the next bucket"),
            ("BlockSize\t10\n0\t0", "more than 0"),
            ("BlockSize\t10\n", "more than 0"),
        ] {
            let said = parse(text).unwrap_err();
            assert!(said.contains(what), "{text:?}: {said}");
        }
    }
}
