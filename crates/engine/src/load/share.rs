//! What one part of a load does of the whole.

use std::ops::Range;

use wire::load::{Level, Part};

use super::plan;

/// The contiguous share of `whole` things that a part has; all parts together have each thing once.
pub fn range(whole: u64, part: Part) -> Range<u64> {
    let edge = |index: u32| (u128::from(whole) * u128::from(index) / u128::from(part.of)) as u64;
    edge(part.index)..edge(part.index + 1)
}

/// How many of `whole` things a part has.
pub fn count(whole: u64, part: Part) -> u64 {
    let range = range(whole, part);
    range.end - range.start
}

/// Most operations in flight of a part.
pub fn in_flight(level: Level, part: Part) -> u64 {
    count(u64::from(plan::in_flight(level)), part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_parts_partition_the_whole(whole: u64, of in 1_u32..50) {
            let mut next = 0;
            for index in 0..of {
                let share = range(whole, Part { index, of });
                prop_assert_eq!(share.start, next);
                let uneven = count(whole, Part { index, of }).abs_diff(whole / u64::from(of));
                prop_assert!(uneven <= 1);
                next = share.end;
            }
            prop_assert_eq!(next, whole);
        }
    }
}
