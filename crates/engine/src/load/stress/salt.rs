//! What makes the values of one column differ from those of another.

/// The salt of the generator called `name`: the first half of `MurmurHash3` (x64, 128 bits, seed
/// zero) as Cassandra has it, which takes the bytes after the last whole block with their sign.
pub fn salt(name: &str) -> i64 {
    let text = name.as_bytes();
    let blocks = text.chunks_exact(16);
    let tail = blocks.remainder();
    let (mut first, mut second) = (0_u64, 0_u64);
    for block in blocks {
        let (low, high) = block.split_at(8);
        first = mixed(first ^ low_half(number(low)), 27, second, 0x52DC_E729);
        second = mixed(second ^ high_half(number(high)), 31, first, 0x3849_5AB5);
    }
    let (low, high) = tail.split_at(tail.len().min(8));
    first ^= low_half(signed(low)) ^ text.len() as u64;
    second ^= high_half(signed(high)) ^ text.len() as u64;
    first = first.wrapping_add(second);
    second = second.wrapping_add(first);
    finished(first).wrapping_add(finished(second)).cast_signed()
}

const LOW: u64 = 0x87C3_7B91_1142_53D5;
const HIGH: u64 = 0x4CF5_AD43_2745_937F;

fn low_half(block: u64) -> u64 {
    block.wrapping_mul(LOW).rotate_left(31).wrapping_mul(HIGH)
}

fn high_half(block: u64) -> u64 {
    block.wrapping_mul(HIGH).rotate_left(33).wrapping_mul(LOW)
}

fn mixed(half: u64, turn: u32, other: u64, constant: u64) -> u64 {
    half.rotate_left(turn)
        .wrapping_add(other)
        .wrapping_mul(5)
        .wrapping_add(constant)
}

fn finished(mut half: u64) -> u64 {
    half = (half ^ (half >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    half = (half ^ (half >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    half ^ (half >> 33)
}

/// Eight bytes, lowest first.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// At most eight bytes, lowest first; a negative one reaches into all those above it.
fn signed(bytes: &[u8]) -> u64 {
    bytes.iter().enumerate().fold(0, |number, (index, byte)| {
        number ^ (i64::from(byte.cast_signed()) << (8 * index)).cast_unsigned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_salts_are_those_of_cassandra_stress() {
        assert_eq!(salt("randomstrkey"), -6_294_861_599_187_687_378);
        assert_eq!(salt("randomstrC0"), 5_919_258_029_671_157_411);
        assert_eq!(salt("randomstrC1"), 2_823_822_333_041_508_710);
        assert_eq!(salt("randomstrC2"), -4_400_155_034_025_812_751);
        assert_eq!(salt("randomstrC3"), -611_415_708_070_891_864);
        assert_eq!(salt("randomstrC4"), -329_182_932_806_138_863);
    }

    #[test]
    fn names_longer_than_a_block_are_hashed_as_published() {
        // The example of every implementation, 43 letters: two blocks and a rest of eleven.
        let published = 0xE34B_BC7B_BC07_1B6C_u64;
        let text = "The quick brown fox jumps over the lazy dog";
        assert_eq!(salt(text), published.cast_signed());
        assert_eq!(salt(""), 0);
    }

    #[test]
    fn a_byte_above_127_reaches_into_those_above_it() {
        assert_eq!(signed(&[0xFF]), u64::MAX);
        assert_eq!(signed(&[1, 0x80]), 0xFFFF_FFFF_FFFF_8001);
        assert_eq!(number(&[1, 0x80, 0, 0, 0, 0, 0, 0]), 0x8001);
    }
}
