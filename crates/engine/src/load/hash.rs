//! The hashes that fix YCSB's key names and index scores.

/// FNV-1a over the eight bytes of a number, lowest first, as YCSB spreads key numbers
/// (`site.ycsb.Utils.fnvhash64`). The magnitude of the signed result, so below 2^63.
pub fn fnv(number: u64) -> u64 {
    const OFFSET_BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01B3;
    let hash = number
        .to_le_bytes()
        .iter()
        .fold(OFFSET_BASIS, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
        });
    hash.cast_signed().unsigned_abs()
}

/// The hash code of a Java string of ASCII, the score of a key in the index that YCSB's Redis
/// binding keeps.
pub fn java(text: &[u8]) -> i32 {
    text.iter().fold(0_i32, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(i32::from(*byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv(0), 6_284_781_860_667_377_211);
        assert_eq!(fnv(1), 8_517_097_267_634_966_620);
        assert_eq!(fnv(2), 1_820_151_046_732_198_393);
    }

    #[test]
    fn the_score_is_javas_hash_code() {
        assert_eq!(java(b""), 0);
        assert_eq!(java(b"hello"), 99_162_322);
        assert_eq!(java(b"polygenelubricants"), i32::MIN);
    }
}
