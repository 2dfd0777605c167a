//! `inspect`: what the kernel says of one running process, read through the process's own root.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use wire::inspection::Inspection;

use crate::cgroups::Hierarchies;
use digest::sha256;
use process::Status;

mod digest;
mod groups;
mod jvm;
mod limits;
mod mount;
mod process;
mod settings;

/// Arguments of `inspect`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The process, which may be in a container.
    #[arg(long)]
    pid: u32,
    /// Its data directory, as the process sees it.
    #[arg(long)]
    data: PathBuf,
}

/// Print an [`Inspection`] of the process.
pub fn inspect(arguments: &Arguments) -> io::Result<()> {
    let found = look(arguments.pid, &arguments.data).map_err(|error| {
        let what = format!("process {} cannot be inspected: {error}", arguments.pid);
        io::Error::new(error.kind(), what)
    })?;
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

fn look(pid: u32, data: &Path) -> io::Result<Inspection> {
    let process = &PathBuf::from(format!("/proc/{pid}"));
    let read = |name: &str| fs::read_to_string(process.join(name));
    let executable = fs::read_link(process.join("exe"))?;
    let status = Status::parse(&read("status")?);
    let mut limits = limits::resources(&read("limits")?);
    limits.extend(groups::limits(&Hierarchies::find()?, &read("cgroup")?));
    limits.extend(process::limits(&status, &read("stat")?));
    limits.insert("oom_score_adj".into(), read("oom_score_adj")?.trim().into());
    limits.insert(
        "transparent_hugepages".into(),
        settings::huge_pages(&status)?,
    );
    let argv = arguments(&fs::read(process.join("cmdline"))?);
    let mut mapped = mapped(process, &read("maps")?)?;
    let mut runtime = BTreeMap::new();
    if mapped.keys().any(|path| path.ends_with("/libjvm.so")) {
        let answers = jvm::ask(process, pid, &status);
        runtime = answers.facts;
        let listed = argv.iter().filter_map(|word| word.strip_prefix('@'));
        let jars = answers.class_path.iter().map(String::as_str);
        // Directories and what is not there may stand among them.
        for path in listed
            .chain(jars)
            .filter(|path| inside(process, path).is_file())
        {
            mapped.insert(path.to_owned(), sha256(&inside(process, path))?);
        }
    }
    Ok(Inspection {
        executable: executable.to_string_lossy().into_owned(),
        executable_sha256: sha256(&process.join("exe"))?,
        mapped,
        argv,
        runtime,
        limits,
        data: mount::find(&read("mountinfo")?, data),
        kernel: settings::kernel(process)?,
        user: status.user(),
    })
}

/// Every file mapped executable, with its hash.
fn mapped(process: &Path, maps: &str) -> io::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for (range, path) in maps.lines().filter_map(executable_mapping) {
        if found.contains_key(path) {
            continue;
        }
        // What was removed or replaced since it was mapped can still be reached by its range.
        let hash = sha256(&inside(process, path))
            .or_else(|_| sha256(&process.join("map_files").join(range)))?;
        found.insert(path.to_owned(), hash);
    }
    Ok(found)
}

/// A path that a process knows, as this one reaches it.
fn inside(process: &Path, path: &str) -> PathBuf {
    process.join("root").join(path.trim_start_matches('/'))
}

/// Range and path of a line of `/proc/PID/maps`, if it is a file mapped executable.
fn executable_mapping(line: &str) -> Option<(&str, &str)> {
    let mut words = line.splitn(6, ' ');
    let (range, permissions) = (words.next()?, words.next()?);
    let path = words.nth(3)?.trim_start();
    (permissions.contains('x') && path.starts_with('/')).then_some((range, path))
}

fn arguments(cmdline: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(cmdline);
    let words = text.strip_suffix('\0').unwrap_or(&text);
    words.split('\0').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn only_files_mapped_executable_count() {
        let code = "7f1-7f2 r-xp 00026000 08:01 131 /usr/lib/x y.so";
        assert_eq!(
            executable_mapping(code),
            Some(("7f1-7f2", "/usr/lib/x y.so"))
        );
        assert_eq!(
            executable_mapping("7f1-7f2 r--p 00026000 08:01 131      /usr/lib/x.so"),
            None
        );
        assert_eq!(
            executable_mapping("7ff-800 r-xp 00000000 00:00 0        [vdso]"),
            None
        );
        assert_eq!(executable_mapping("7ff-800 r-xp 00000000 00:00 0"), None);
    }

    #[test]
    fn an_empty_argument_is_an_argument() {
        assert_eq!(
            arguments(b"redis-server\0--save\0\0"),
            ["redis-server", "--save", ""]
        );
    }

    #[test]
    fn a_child_is_told_as_it_was_started() {
        let mut child = Command::new("cat")
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Only once it answers have its libraries been mapped.
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        input.write_all(b"?").unwrap();
        output.read_exact(&mut [0]).unwrap();
        let found = look(child.id(), Path::new("/"));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = found.unwrap();
        assert_eq!(found.argv, ["cat", "-"]);
        assert!(found.executable.ends_with("/cat") || found.executable.ends_with("/coreutils"));
        assert_eq!(found.mapped[&found.executable], found.executable_sha256);
        assert!(found.mapped.keys().any(|path| path.contains("libc.so")));
        for name in [
            "max_open_files",
            "cpus_allowed",
            "nice",
            "scheduler",
            "capabilities",
        ] {
            assert!(found.limits.contains_key(name), "{name} is missing");
        }
        assert_eq!(found.limits["scheduler"], "other");
        assert!(!found.data["file_system"].is_empty());
        assert!(found.kernel.contains_key("release"));
        assert!(found.kernel.contains_key("net.core.somaxconn"));
        assert_eq!(
            found.user,
            format!("{}:{}", nix::unistd::geteuid(), nix::unistd::getegid())
        );
    }
}
