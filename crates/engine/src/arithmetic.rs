//! A fixed piece of arithmetic: how long it takes tells how fast a processor is.

use std::hint::black_box;

/// Rounds of one piece of work, some microseconds; independent chains, since it is the units of the
/// core that neighbours share.
pub const ROUNDS: u64 = 2_500;

/// Six chains of which hardly any waits for another.
pub fn work(rounds: u64) {
    let mut x = black_box([1_u64, 2, 3, 4, 5, 6]);
    for i in 0..rounds {
        x[0] = x[0].wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        x[1] = (x[1] ^ (x[1] << 13)).wrapping_add(i);
        x[2] = x[2].wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3);
        x[3] = (x[3] ^ (x[3] >> 7)).wrapping_add(i);
        x[4] = x[4].wrapping_add(x[0] ^ i);
        x[5] ^= x[1].wrapping_add(i);
    }
    black_box(x);
}
