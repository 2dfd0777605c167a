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
mod environment;
mod groups;
mod jvm;
mod limits;
mod mount;
mod process;
mod seccomp;
mod settings;

/// How files end that Java runs although they are not mapped executable: class-data archives and
/// the classes that it brings along itself.
const CLASSES: [&str; 2] = [".jsa", "/lib/modules"];

/// What stands among the `absent` when Java does not answer.
const VIRTUAL_MACHINE: &str = "virtual machine";
/// What the kernel writes behind the path of a mapped file that is gone.
const GONE: &str = " (deleted)";

/// Arguments of `inspect`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The process, which may be in a container.
    #[arg(long)]
    pid: u32,
    /// Its data directory, as the process sees it.
    #[arg(long)]
    data: PathBuf,
    /// Control group of its host: weights above it are not told.
    #[arg(long)]
    within: Option<String>,
    /// One of its configuration files, as the process sees it; may be given several times.
    #[arg(long = "file")]
    files: Vec<String>,
}

/// Print an [`Inspection`] of the process.
pub fn inspect(arguments: &Arguments) -> io::Result<()> {
    let found = look(arguments).map_err(|error| {
        let what = format!("process {} cannot be inspected: {error}", arguments.pid);
        io::Error::new(error.kind(), what)
    })?;
    println!("{}", serde_json::to_string(&found)?);
    Ok(())
}

fn look(asked: &Arguments) -> io::Result<Inspection> {
    let process = &PathBuf::from(format!("/proc/{}", asked.pid));
    let read = |name: &str| fs::read_to_string(process.join(name));
    let executable = fs::read_link(process.join("exe"))?;
    let status = Status::parse(&read("status")?);
    let mut limits = limits::resources(&read("limits")?);
    limits.extend(groups::limits(
        &Hierarchies::find()?,
        &read("cgroup")?,
        asked.within.as_deref(),
        groups::Machine::here(),
    ));
    limits.extend(process::limits(&status, &read("stat")?));
    limits.insert("oom_score_adj".into(), read("oom_score_adj")?.trim().into());
    let huge_pages = settings::huge_pages(&status)?;
    limits.insert("transparent_hugepages".into(), huge_pages);
    let argv = arguments(&fs::read(process.join("cmdline"))?);
    let mut absent = BTreeMap::new();
    let filtered = seccomp::told(asked.pid, status.get("Seccomp"));
    limits.insert("seccomp".into(), filtered);
    let maps = read("maps")?;
    let is_java = maps.lines().any(|line| line.ends_with("/libjvm.so"));
    let java = is_java.then(|| {
        let answers = jvm::ask(process, asked.pid, &status);
        or_absent(answers, VIRTUAL_MACHINE, &mut absent)
    });
    // Only now, for Java maps more while it starts, and has done so when it answers.
    let mut mapped = mapped(process, &read("maps")?)?;
    if let Some(java) = &java {
        let listed = argv.iter().filter_map(|word| word.strip_prefix('@'));
        let jars = java.class_path.iter().map(String::as_str);
        // Directories and what is not there may stand among them.
        for path in listed
            .chain(jars)
            .filter(|path| inside(process, path).is_file())
        {
            mapped.insert(path.to_owned(), sha256(&inside(process, path))?);
        }
    }
    let environment = fs::read(process.join("environ"));
    let environment = environment.and_then(|environ| environment::variables(&environ));
    Ok(Inspection {
        executable: executable.to_string_lossy().into_owned(),
        executable_sha256: sha256(&process.join("exe"))?,
        mapped,
        argv,
        environment: or_absent(environment, "environment", &mut absent),
        files: configuration(process, &asked.files, &mut absent),
        runtime: java.unwrap_or_default().facts,
        limits,
        data: mount::find(&read("mountinfo")?, &asked.data),
        kernel: settings::kernel(process)?,
        user: status.user(),
        absent,
    })
}

/// What was found; where nothing could be, the reason is noted.
fn or_absent<T: Default>(
    found: io::Result<T>,
    what: &str,
    absent: &mut BTreeMap<String, String>,
) -> T {
    found.unwrap_or_else(|error| {
        absent.insert(what.to_owned(), error.to_string());
        T::default()
    })
}

/// Configuration files as the process finds them now, not as somebody put them there.
fn configuration(
    process: &Path,
    paths: &[String],
    absent: &mut BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for path in paths {
        match fs::read_to_string(inside(process, path)) {
            Ok(text) => found.insert(path.clone(), text),
            Err(error) => absent.insert(path.clone(), error.to_string()),
        };
    }
    found
}

/// Every file that the process runs, with its hash.
fn mapped(process: &Path, maps: &str) -> io::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for (range, path) in maps.lines().filter_map(code) {
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

/// Range and path of a line of `/proc/PID/maps`, if it is a file mapped executable or of classes.
fn code(line: &str) -> Option<(&str, &str)> {
    let mut words = line.splitn(6, ' ');
    let (range, permissions) = (words.next()?, words.next()?);
    let path = words.nth(3)?.trim_start();
    let name = path.strip_suffix(GONE).unwrap_or(path);
    let runs = permissions.contains('x') || CLASSES.iter().any(|end| name.ends_with(end));
    (runs && path.starts_with('/')).then_some((range, path))
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
    fn only_files_mapped_executable_or_of_classes_count() {
        let library = "7f1-7f2 r-xp 00026000 08:01 131 /usr/lib/x y.so";
        assert_eq!(code(library), Some(("7f1-7f2", "/usr/lib/x y.so")));
        for classes in [
            "/opt/java/lib/modules",
            "/opt/a/lib/a.jsa",
            "/a.jsa (deleted)",
        ] {
            let line = format!("7f1-7f2 r--s 00000000 08:01 131      {classes}");
            assert_eq!(code(&line), Some(("7f1-7f2", classes)));
        }
        for other in [
            "7f1-7f2 r--p 00026000 08:01 131      /usr/lib/x.so",
            "7f1-7f2 r--s 00000000 08:01 131      /srv/data/nb-1-big-Data.db",
            "7ff-800 r-xp 00000000 00:00 0        [vdso]",
            "7ff-800 r-xp 00000000 00:00 0",
        ] {
            assert_eq!(code(other), None);
        }
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
        let written = std::env::temp_dir().join(format!("configuration-{}", std::process::id()));
        fs::write(&written, "save 1 1\n").unwrap();
        let file = written.to_string_lossy().into_owned();
        let missing = format!("{file}.missing");
        let mut child = Command::new("cat")
            .arg("-")
            .env("COLOUR", "red=yes")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Only once it answers have its libraries been mapped.
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        input.write_all(b"?").unwrap();
        output.read_exact(&mut [0]).unwrap();
        let found = look(&Arguments {
            within: None,
            pid: child.id(),
            data: PathBuf::from("/"),
            files: vec![file.clone(), missing.clone()],
        });
        child.kill().unwrap();
        child.wait().unwrap();
        fs::remove_file(&written).unwrap();
        let found = found.unwrap();
        assert_eq!(found.argv, ["cat", "-"]);
        assert_eq!(found.environment["COLOUR"], "red=yes");
        assert_eq!(
            found.files,
            BTreeMap::from([(file, "save 1 1\n".to_owned())])
        );
        assert_eq!(found.absent.keys().collect::<Vec<_>>(), [&missing]);
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
