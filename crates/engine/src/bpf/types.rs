//! What the kernel tells of its own types, in the BPF type format (BTF).
//!
//! Places of fields differ from kernel to kernel. A program that is made on the machine it runs on
//! asks for them and needs no compiler (`Documentation/bpf/btf.rst` has the format).

use std::fs;
use std::io;

const OF_KERNEL: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u16 = 0xeb9f;
/// Bytes of a type before what its kind adds, and of a member.
const TYPE: usize = 12;
const MEMBER: usize = 12;

/// Kinds of types, as far as they matter here.
mod kind {
    pub const INTEGER: u32 = 1;
    pub const POINTER: u32 = 2;
    pub const ARRAY: u32 = 3;
    pub const STRUCT: u32 = 4;
    pub const UNION: u32 = 5;
    pub const ENUM: u32 = 6;
    pub const FORWARD: u32 = 7;
    pub const TYPEDEF: u32 = 8;
    pub const VOLATILE: u32 = 9;
    pub const CONST: u32 = 10;
    pub const RESTRICT: u32 = 11;
    pub const FUNCTION: u32 = 12;
    pub const PROTOTYPE: u32 = 13;
    pub const VARIABLE: u32 = 14;
    pub const SECTION: u32 = 15;
    pub const FLOAT: u32 = 16;
    pub const DECLARATION_TAG: u32 = 17;
    pub const TYPE_TAG: u32 = 18;
    pub const WIDE_ENUM: u32 = 19;
}

/// All types of a kernel. They are numbered from 1.
pub struct Types {
    bytes: Vec<u8>,
    /// Where each type begins.
    starts: Vec<usize>,
    /// Where names begin.
    names: usize,
}

/// A type as it is laid down.
struct Type {
    name: u32,
    kind: u32,
    /// Its members, parameters or values.
    count: usize,
    /// Members have a width in bits beside their place.
    widths: bool,
    /// The type that it is another word for, or its size.
    of: u32,
    start: usize,
}

impl Types {
    /// Those of the kernel that runs here.
    pub fn of_kernel() -> io::Result<Self> {
        let bytes = fs::read(OF_KERNEL).map_err(|error| {
            io::Error::other(format!(
                "the kernel does not tell its types: `{OF_KERNEL}`: {error}"
            ))
        })?;
        Self::parse(bytes)
    }

    fn parse(bytes: Vec<u8>) -> io::Result<Self> {
        let mut types = Self {
            bytes,
            starts: Vec::new(),
            names: 0,
        };
        if types.bytes.get(..2) != Some(&MAGIC.to_ne_bytes()) {
            return Err(broken("it does not begin as types do"));
        }
        let header = types.word(4)? as usize;
        let (first, length) = (types.word(8)? as usize, types.word(12)? as usize);
        types.names = header + types.word(16)? as usize;
        let mut at = header + first;
        while at < header + first + length {
            types.starts.push(at);
            at += Self::length(&types.at(at)?)?;
        }
        Ok(types)
    }

    /// The number of the word for another type that has this name.
    pub fn typedef(&self, name: &str) -> io::Result<u32> {
        self.named(kind::TYPEDEF, name)
    }

    /// Bytes from the start of a structure to a field in it, which a path of names leads to.
    pub fn offset(&self, structure: &str, path: &[&str]) -> io::Result<i16> {
        let mut number = self.named(kind::STRUCT, structure)?;
        let mut bits = 0;
        for name in path {
            let (further, of) = self.member(number, name)?.ok_or_else(|| {
                let path = path.join(".");
                io::Error::other(format!("the kernel's `{structure}` has no `{path}`"))
            })?;
            bits += further;
            number = of;
        }
        i16::try_from(bits / 8).map_err(|_| broken("a field lies too far behind"))
    }

    fn named(&self, kind: u32, name: &str) -> io::Result<u32> {
        for (before, start) in self.starts.iter().enumerate() {
            let found = self.at(*start)?;
            if found.kind == kind && self.name(found.name) == name.as_bytes() {
                return Ok(before as u32 + 1);
            }
        }
        Err(io::Error::other(format!("the kernel has no type `{name}`")))
    }

    /// Bits to a member of a structure or union, and its type; those without a name are looked into.
    fn member(&self, number: u32, name: &str) -> io::Result<Option<(u32, u32)>> {
        let whole = self.plain(number)?;
        if whole.kind != kind::STRUCT && whole.kind != kind::UNION {
            return Ok(None);
        }
        for index in 0..whole.count {
            let at = whole.start + TYPE + index * MEMBER;
            let (called, of) = (self.word(at)?, self.word(at + 4)?);
            let place = self.word(at + 8)?;
            let place = if whole.widths {
                place & 0x00ff_ffff
            } else {
                place
            };
            if self.name(called) == name.as_bytes() {
                return Ok(Some((place, of)));
            }
            if self.name(called).is_empty()
                && let Some((further, of)) = self.member(of, name)?
            {
                return Ok(Some((place + further, of)));
            }
        }
        Ok(None)
    }

    /// A type behind all other words for it.
    fn plain(&self, mut number: u32) -> io::Result<Type> {
        loop {
            let start = (number as usize).checked_sub(1);
            let start = start.and_then(|before| self.starts.get(before));
            let found = self.at(*start.ok_or_else(|| broken("a type is missing"))?)?;
            match found.kind {
                kind::TYPEDEF | kind::VOLATILE | kind::CONST | kind::RESTRICT | kind::TYPE_TAG => {
                    number = found.of;
                }
                _ => return Ok(found),
            }
        }
    }

    fn at(&self, start: usize) -> io::Result<Type> {
        let info = self.word(start + 4)?;
        Ok(Type {
            name: self.word(start)?,
            kind: info >> 24 & 0x1f,
            count: (info & 0xffff) as usize,
            widths: info >> 31 == 1,
            of: self.word(start + 8)?,
            start,
        })
    }

    fn length(found: &Type) -> io::Result<usize> {
        let added = match found.kind {
            kind::INTEGER | kind::VARIABLE | kind::DECLARATION_TAG => 4,
            kind::ARRAY => 12,
            kind::STRUCT | kind::UNION | kind::SECTION | kind::WIDE_ENUM => found.count * 12,
            kind::ENUM | kind::PROTOTYPE => found.count * 8,
            kind::POINTER
            | kind::FORWARD
            | kind::TYPEDEF
            | kind::VOLATILE
            | kind::CONST
            | kind::RESTRICT
            | kind::FUNCTION
            | kind::FLOAT
            | kind::TYPE_TAG => 0,
            unknown => {
                return Err(broken(&format!(
                    "nothing is known of types of kind {unknown}"
                )));
            }
        };
        Ok(TYPE + added)
    }

    fn name(&self, at: u32) -> &[u8] {
        let rest = self.bytes.get(self.names + at as usize..);
        let name = rest.and_then(|rest| rest.split(|byte| *byte == 0).next());
        name.unwrap_or_default()
    }

    fn word(&self, at: usize) -> io::Result<u32> {
        let bytes = self
            .bytes
            .get(at..at + 4)
            .and_then(|four| four.try_into().ok());
        let bytes = bytes.ok_or_else(|| broken("it is cut off"))?;
        Ok(u32::from_ne_bytes(bytes))
    }
}

fn broken(why: &str) -> io::Error {
    let what = format!("the kernel's types cannot be read: {why}");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types that are made up one after the other.
    #[derive(Default)]
    struct Made {
        types: Vec<u32>,
        names: Vec<u8>,
    }

    impl Made {
        fn name(&mut self, name: &str) -> u32 {
            if name.is_empty() {
                return 0;
            }
            if self.names.is_empty() {
                self.names.push(0);
            }
            let at = self.names.len() as u32;
            self.names.extend(name.bytes());
            self.names.push(0);
            at
        }

        fn add(&mut self, name: &str, info: u32, of: u32) {
            let name = self.name(name);
            self.types.extend([name, info, of]);
        }

        /// A structure or union of members: name, type, bits before it.
        fn whole(&mut self, name: &str, kind: u32, members: &[(&str, u32, u32)]) {
            self.add(name, kind << 24 | members.len() as u32, 0);
            for (name, of, bits) in members {
                let name = self.name(name);
                self.types.extend([name, *of, *bits]);
            }
        }

        fn bytes(&self) -> Vec<u8> {
            let length = (self.types.len() * 4) as u32;
            let magic = u32::from(MAGIC) | 1 << 16;
            let header = [magic, 24, 0, length, length, self.names.len() as u32];
            let words = header.iter().chain(&self.types);
            let mut bytes: Vec<u8> = words.flat_map(|word| word.to_ne_bytes()).collect();
            bytes.extend(&self.names);
            bytes
        }
    }

    /// A packet as the kernel has it: its device in a union in a structure in a union.
    fn made() -> Made {
        let mut made = Made::default();
        made.add("int", kind::INTEGER << 24, 4); // 1
        made.types.push(32);
        made.add("", kind::POINTER << 24, 6); // 2
        made.whole("", kind::UNION, &[("dev", 2, 0), ("scratch", 1, 0)]); // 3
        made.whole("", kind::STRUCT, &[("next", 2, 0), ("", 3, 128)]); // 4
        made.whole("", kind::UNION, &[("", 4, 0), ("list", 1, 0)]); // 5
        made.whole(
            "net_device",
            kind::STRUCT,
            &[("mtu", 1, 0), ("nd_net", 8, 64)],
        ); // 6
        made.whole("", kind::STRUCT, &[("net", 2, 0)]); // 7
        made.add("possible_net_t", kind::TYPEDEF << 24, 7); // 8
        made.whole("sk_buff", kind::STRUCT, &[("", 5, 0), ("len", 1, 192)]); // 9
        made
    }

    #[test]
    fn fields_are_found_in_structures_without_a_name_and_behind_other_words() {
        let types = Types::parse(made().bytes()).unwrap();
        assert_eq!(types.offset("sk_buff", &["dev"]).unwrap(), 16);
        assert_eq!(types.offset("sk_buff", &["len"]).unwrap(), 24);
        assert_eq!(types.offset("net_device", &["nd_net", "net"]).unwrap(), 8);
        assert_eq!(types.typedef("possible_net_t").unwrap(), 8);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let types = Types::parse(made().bytes()).unwrap();
        let missing = types.offset("sk_buff", &["device"]).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the kernel's `sk_buff` has no `device`"
        );
        let missing = types.offset("net_device", &["mtu", "x"]).unwrap_err();
        assert!(missing.to_string().contains("no `mtu.x`"));
        let missing = types.typedef("sk_buff").unwrap_err();
        assert_eq!(missing.to_string(), "the kernel has no type `sk_buff`");
    }

    #[test]
    fn a_place_that_shares_its_word_with_a_width_is_read_without_it() {
        let mut made = Made::default();
        made.add("int", kind::INTEGER << 24, 4);
        made.types.push(32);
        made.whole(
            "net",
            1 << 7 | kind::STRUCT,
            &[("flag", 1, 3 << 24), ("inum", 1, 96)],
        );
        let types = Types::parse(made.bytes()).unwrap();
        assert_eq!(types.offset("net", &["inum"]).unwrap(), 12);
    }

    #[test]
    fn types_that_are_cut_off_or_unknown_are_an_error() {
        let whole = made().bytes();
        assert!(Types::parse(whole[..60].to_vec()).is_err());
        assert!(Types::parse(b"\x7fELF".to_vec()).is_err());
        let mut made = made();
        made.add("new", 31 << 24, 0);
        let error = Types::parse(made.bytes()).err().unwrap();
        assert!(error.to_string().ends_with("types of kind 31"));
    }

    #[test]
    fn this_machines_kernel_tells_the_way_from_a_packet_to_its_network_or_why_not() {
        match Types::of_kernel() {
            Ok(types) => {
                // After two pointers, in every kernel since 4.16.
                assert_eq!(types.offset("sk_buff", &["dev"]).unwrap(), 16);
                assert!(types.offset("net_device", &["nd_net", "net"]).unwrap() > 0);
                assert!(types.offset("net", &["ns", "inum"]).unwrap() > 0);
            }
            Err(error) => assert!(error.to_string().contains(OF_KERNEL)),
        }
    }
}
