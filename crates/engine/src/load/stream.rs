//! Random numbers, so that each virtual client has its own and one seed gives the same ones.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use wire::load::Part;

/// The random numbers of virtual client `client` of a part, or of the slots of an open load, which
/// are those of client 0.
pub fn stream(seed: u64, part: Part, client: u64) -> Xoshiro256PlusPlus {
    let mixed = [seed, u64::from(part.index), client]
        .into_iter()
        .fold(0, |state, number| {
            SplitMix64::seed_from_u64(state ^ number).next_u64()
        });
    Xoshiro256PlusPlus::seed_from_u64(mixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::rand_core::Rng;

    proptest! {
        #[test]
        fn no_two_streams_are_alike(seed: u64, one in 0_u32..50, other in 0_u32..50) {
            let first = |index, client| {
                stream(seed, Part { index, of: 50 }, u64::from(client)).next_u64()
            };
            prop_assert_ne!(first(one, 0), first(one, other + 1));
            prop_assert_ne!(first(one, other), first(one + 1, other));
            prop_assert_eq!(first(one, other), first(one, other));
        }
    }
}
