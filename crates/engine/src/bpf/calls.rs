//! The system call bpf(2): maps, programs, and where programs are called.
//!
//! All of it is gone as soon as its descriptors are closed, however this process ends.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;

// Numbers of `linux/bpf.h`.
const MAP_CREATE: libc::c_long = 0;
const MAP_LOOKUP: libc::c_long = 1;
const MAP_UPDATE: libc::c_long = 2;
const MAP_NEXT_KEY: libc::c_long = 4;
const PROGRAM_LOAD: libc::c_long = 5;
const RAW_TRACEPOINT_OPEN: libc::c_long = 17;
const PERCPU_HASH: u32 = 5;
const PERCPU_ARRAY: u32 = 6;
const TRACING: u32 = 26;
const TRACE_RAW_TRACEPOINT: u32 = 23;

/// Bytes of a key of every map here.
const KEY: u32 = 4;
/// The kernel lets programs read its structures only under a licence that goes with its own.
const LICENCE: &[u8] = b"Dual MIT/GPL\0";
/// Bytes for what the kernel says of a program that it refuses.
const LOG: usize = 1 << 16;
const POSSIBLE: &str = "/sys/devices/system/cpu/possible";

#[repr(C)]
struct NewMap {
    kind: u32,
    key: u32,
    value: u32,
    entries: u32,
}

#[repr(C)]
struct Element {
    map: u32,
    unused: u32,
    key: u64,
    /// Address of the value, or of the next key.
    to: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct NewProgram {
    kind: u32,
    instructions: u32,
    code: u64,
    licence: u64,
    log_level: u32,
    log_length: u32,
    log: u64,
    kernel: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_kind: u32,
    types: u32,
    function_length: u32,
    functions: u64,
    function_count: u32,
    line_length: u32,
    lines: u64,
    line_count: u32,
    attach_type: u32,
    attach_program: u32,
    unused: u32,
}

#[repr(C)]
struct NewLink {
    name: u64,
    program: u32,
    unused: u32,
}

/// Something for each processor, which programs keep while they work.
pub struct Scratch(OwnedFd);

impl Scratch {
    /// One value of so many bytes for each processor, under the key 0; zeros at first.
    pub fn new(bytes: u32) -> io::Result<Self> {
        Ok(Self(new_map(PERCPU_ARRAY, bytes, 1)?))
    }
}

impl AsFd for Scratch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sums that programs add to, by number and, so that no two meet, by processor.
pub struct Sums {
    map: OwnedFd,
    processors: usize,
}

impl Sums {
    /// Room for so many sums of eight bytes.
    pub fn new(entries: u32) -> io::Result<Self> {
        Ok(Self {
            map: new_map(PERCPU_HASH, 8, entries)?,
            processors: possible(&fs::read_to_string(POSSIBLE)?)?,
        })
    }

    /// Make the sum of a number, 0, so that there is room for it later.
    pub fn reserve(&self, number: u32) -> io::Result<()> {
        let mut zeros = vec![0_u64; self.processors];
        self.element(MAP_UPDATE, &raw const number, zeros.as_mut_ptr().cast())
    }

    /// Number → its sum over all processors.
    pub fn read(&self) -> io::Result<Vec<(u32, u64)>> {
        let mut found = Vec::new();
        let mut values = vec![0_u64; self.processors];
        let mut before = None;
        while let Some(key) = self.next(before)? {
            self.element(MAP_LOOKUP, &raw const key, values.as_mut_ptr().cast())?;
            found.push((key, values.iter().sum()));
            before = Some(key);
        }
        Ok(found)
    }

    fn next(&self, before: Option<u32>) -> io::Result<Option<u32>> {
        let mut key = 0_u32;
        let from = before.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        match self.element(MAP_NEXT_KEY, from, (&raw mut key).cast()) {
            Ok(()) => Ok(Some(key)),
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Ask for what belongs to a key, or give it. `to` holds it, or has room for it.
    fn element(
        &self,
        command: libc::c_long,
        key: *const u32,
        to: *mut libc::c_void,
    ) -> io::Result<()> {
        let element = Element {
            map: number(&self.map),
            unused: 0,
            key: key as u64,
            to: to as u64,
            flags: 0,
        };
        call(command, &element).map(drop)
    }
}

impl AsFd for Sums {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}

/// A program that the kernel calls for as long as this lives.
pub struct Attached {
    _program: OwnedFd,
    _link: OwnedFd,
}

/// Hand a program over, and have it called at the tracepoint of this type.
///
/// An error ends with what the kernel has against the program, where it says so.
pub fn attach(code: &[u8], tracepoint: u32) -> io::Result<Attached> {
    let program = match load(code, tracepoint, &mut []) {
        Err(error) if error.raw_os_error() != Some(libc::EPERM) => {
            let mut log = vec![0; LOG];
            load(code, tracepoint, &mut log).map_err(|again| {
                let said = last_words(&String::from_utf8_lossy(&log));
                io::Error::other(format!("{again}{said}"))
            })?
        }
        loaded => loaded?,
    };
    let link = NewLink {
        name: 0,
        program: number(&program),
        unused: 0,
    };
    Ok(Attached {
        _link: call(RAW_TRACEPOINT_OPEN, &link).map(owned)?,
        _program: program,
    })
}

fn load(code: &[u8], tracepoint: u32, log: &mut [u8]) -> io::Result<OwnedFd> {
    let program = NewProgram {
        kind: TRACING,
        instructions: (code.len() / 8) as u32,
        code: code.as_ptr() as u64,
        licence: LICENCE.as_ptr() as u64,
        log_level: u32::from(!log.is_empty()),
        log_length: log.len() as u32,
        log: if log.is_empty() {
            0
        } else {
            log.as_mut_ptr() as u64
        },
        attach_kind: TRACE_RAW_TRACEPOINT,
        attach_type: tracepoint,
        ..NewProgram::default()
    };
    call(PROGRAM_LOAD, &program).map(owned)
}

/// The last line of a log that is about the program.
fn last_words(log: &str) -> String {
    log.trim_end_matches('\0')
        .lines()
        .rfind(|line| !line.is_empty() && !line.starts_with("processed "))
        .map(|line| format!(": {line}"))
        .unwrap_or_default()
}

fn new_map(kind: u32, value: u32, entries: u32) -> io::Result<OwnedFd> {
    let map = NewMap {
        kind,
        key: KEY,
        value,
        entries,
    };
    call(MAP_CREATE, &map).map(owned)
}

/// How many processors a machine may have, from a list such as `0-3,8`: so many values the kernel
/// writes for one key.
fn possible(list: &str) -> io::Result<usize> {
    let unread = || io::Error::other(format!("`{POSSIBLE}` cannot be read: {list}"));
    let mut count = 0;
    for part in list.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let from: usize = from.parse().map_err(|_| unread())?;
        let to: usize = to.parse().map_err(|_| unread())?;
        count += (to + 1).checked_sub(from).ok_or_else(unread)?;
    }
    Ok(count)
}

fn call<T>(command: libc::c_long, attributes: &T) -> io::Result<libc::c_long> {
    // SAFETY: the kernel reads so many bytes, and writes only where they say that there is room.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_ref(attributes),
            size_of::<T>(),
        )
    };
    Ok(Errno::result(answer)?)
}

fn owned(answer: libc::c_long) -> OwnedFd {
    // SAFETY: the kernel has just returned this descriptor, and no one else owns it.
    unsafe { OwnedFd::from_raw_fd(answer as i32) }
}

fn number(descriptor: &OwnedFd) -> u32 {
    descriptor.as_raw_fd().cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_as_long_as_the_kernels() {
        assert_eq!(size_of::<NewMap>(), 16);
        assert_eq!(size_of::<Element>(), 32);
        assert_eq!(std::mem::offset_of!(NewProgram, attach_kind), 68);
        assert_eq!(std::mem::offset_of!(NewProgram, attach_type), 108);
        assert_eq!(size_of::<NewProgram>(), 120);
        assert_eq!(size_of::<NewLink>(), 16);
    }

    #[test]
    fn processors_that_a_machine_may_have_are_counted() {
        assert_eq!(possible("0\n").unwrap(), 1);
        assert_eq!(possible("0-3,8\n").unwrap(), 5);
        assert!(possible("").is_err());
        assert!(possible("3-1").is_err());
    }

    #[test]
    fn of_what_the_kernel_says_the_last_line_about_the_program_is_told() {
        let log = "0: (79) r1 = *(u64 *)(r1 +8)\naccess beyond the end\nprocessed 1 insns\n\0\0";
        assert_eq!(last_words(log), ": access beyond the end");
        assert_eq!(last_words("\0"), "");
    }
}
