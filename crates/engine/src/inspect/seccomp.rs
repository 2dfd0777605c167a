//! Which system calls a process may make: the filters that seccomp holds for it in the kernel.
//!
//! A filter is a program of the kernel's, made from a profile by whoever started the container.
//! Only a tracer is given it, and only while the process stands still, which takes microseconds.
//!
//! Of one profile a program is written in another order each time: its parts come out of a hash
//! map. So what counts is what it compares with and what it answers, not in which order. Two
//! programs of the same comparisons and answers count as one, though the ways between them may let
//! other calls through: their lists are known to be the same, not what becomes of each call.

use std::collections::BTreeSet;
use std::io;
use std::ptr;

use nix::errno::Errno;
use nix::libc::{self, c_void, sock_filter};
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::digest::sha256_of;

/// `PTRACE_SECCOMP_GET_FILTER` of `linux/ptrace.h`.
const GET_FILTER: libc::c_uint = 0x420c;

/// The mode in which filters decide, proc(5).
const FILTERED: &str = "2";

/// The mode of seccomp, followed by `:` and the SHA-256 of the rules of all filters where there are
/// any. Where nobody tells the rules, the mode stands alone: it is known all the same.
///
/// Two processes with one profile may have different filters: a profile allows calls by the
/// kernel's version and the capabilities.
pub fn told(pid: u32, mode: &str) -> String {
    if mode != FILTERED {
        return mode.to_owned();
    }
    filters(Pid::from_raw(pid.cast_signed())).map_or_else(
        |_| mode.to_owned(),
        |rules| format!("{mode}:{}", sha256_of(&rules)),
    )
}

/// The rules of all filters of a process's first thread, the newest filter first.
///
/// Fails where this process may not trace that one, as under Yama's strictest scope, is filtered
/// itself, or the kernel was built without `CONFIG_CHECKPOINT_RESTORE`.
fn filters(pid: Pid) -> io::Result<Vec<u8>> {
    ptrace::seize(pid, Options::empty())?;
    let found = ptrace::interrupt(pid)
        .and_then(|()| waitpid(pid, None))
        .map_err(io::Error::from)
        .and_then(|_| all(pid));
    // One that has ended meanwhile has nothing to be left.
    let _ = ptrace::detach(pid, None);
    found
}

fn all(pid: Pid) -> io::Result<Vec<u8>> {
    let mut found = Vec::new();
    for index in 0.. {
        match filter(pid, index) {
            Ok(instructions) => found.extend(rules(&instructions)),
            Err(Errno::ENOENT) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// What a filter's instructions do and with which values, each once, without the ways between them.
fn rules(instructions: &[sock_filter]) -> Vec<u8> {
    let found: BTreeSet<_> = instructions
        .iter()
        .filter(|each| u32::from(each.code) != libc::BPF_JMP | libc::BPF_JA)
        .map(|each| (each.code, each.k))
        .collect();
    let bytes = found
        .iter()
        .map(|(code, value)| [&code.to_le_bytes()[..], &value.to_le_bytes()].concat());
    bytes.flatten().collect()
}

/// The instructions of one filter of a process that stands still; `ENOENT` behind the last.
fn filter(pid: Pid, index: usize) -> nix::Result<Vec<sock_filter>> {
    let length = request(pid, index, ptr::null_mut())?;
    let nothing = sock_filter {
        code: 0,
        jt: 0,
        jf: 0,
        k: 0,
    };
    let mut instructions = vec![nothing; length];
    request(pid, index, instructions.as_mut_ptr().cast())?;
    Ok(instructions)
}

/// Ask for a filter: how many instructions it has, which
/// are written to `place` unless that is null.
fn request(pid: Pid, index: usize, place: *mut c_void) -> nix::Result<usize> {
    // SAFETY: the process stands still, so that `place` has room for as many instructions as the
    // kernel told of this filter before, or is null.
    let answer = unsafe { libc::ptrace(GET_FILTER, pid.as_raw(), index, place) };
    Errno::result(answer).map(|length| length as usize)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use super::*;

    /// A filter that allows every call; `data` is what it returns besides.
    fn allowing(data: u16) -> [sock_filter; 1] {
        [sock_filter {
            code: (libc::BPF_RET | libc::BPF_K) as u16,
            jt: 0,
            jf: 0,
            k: libc::SECCOMP_RET_ALLOW | u32::from(data),
        }]
    }

    /// A process with these filters, in their order.
    fn sleeping(filters: &'static [u16]) -> Child {
        let begin = move || {
            nix::sys::prctl::set_no_new_privs()?;
            for data in filters {
                let mut program = allowing(*data);
                let told = libc::sock_fprog {
                    len: 1,
                    filter: program.as_mut_ptr(),
                };
                // SAFETY: the kernel copies the program, which lives until then.
                let answer = unsafe {
                    libc::prctl(
                        libc::PR_SET_SECCOMP,
                        libc::SECCOMP_MODE_FILTER,
                        &raw const told,
                    )
                };
                Errno::result(answer)?;
            }
            Ok(())
        };
        let mut command = Command::new("sleep");
        // SAFETY: only system calls are made between fork and exec.
        unsafe { command.arg("60").pre_exec(begin) };
        command.spawn().unwrap()
    }

    fn told_of(filters: &'static [u16]) -> String {
        let mut child = sleeping(filters);
        let found = told(child.id(), FILTERED);
        let goes_on = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(goes_on, "a process goes on when its filters were read");
        found
    }

    #[test]
    fn equal_filters_have_one_digest_and_others_another() {
        let first = told_of(&[0]);
        assert_eq!(first.len(), "2:".len() + 64);
        assert_eq!(told_of(&[0]), first);
        assert_ne!(told_of(&[1]), first);
    }

    #[test]
    fn the_order_of_comparisons_is_no_rule_and_what_they_compare_with_is() {
        let compares = |value, jump| sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: jump,
            jf: 0,
            k: value,
        };
        let away = |far| sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JA) as u16,
            jt: 0,
            jf: 0,
            k: far,
        };
        let known = rules(&[compares(1, 5), compares(2, 3), away(7)]);
        assert_eq!(rules(&[away(4), compares(2, 1), compares(1, 2)]), known);
        assert_ne!(rules(&[compares(2, 1), compares(3, 2)]), known);
    }

    #[test]
    fn each_of_several_filters_counts() {
        assert_ne!(told_of(&[0, 1]), told_of(&[1]));
        assert_ne!(told_of(&[0, 1]), told_of(&[1, 0]));
    }

    #[test]
    fn where_there_are_no_rules_or_nobody_tells_them_the_mode_stands_alone() {
        // No process has the number 0, so that tracing it fails.
        assert_eq!(told(0, "0"), "0");
        assert_eq!(told(0, FILTERED), FILTERED);
    }
}
