//! The properties that are given: by one of YCSB's workloads, by files, by arguments. Of those of
//! one name the last one counts, in this order.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::secrets;
use super::workloads::Core;
use crate::properties;

/// Where a property stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In one of YCSB's own workloads.
    Core(Core),
    /// In a file of `-P`.
    File {
        /// Which one.
        path: PathBuf,
        /// On which line, from 1.
        line: usize,
    },
    /// After `-p`.
    Argument,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(core) => write!(out, "`--workload {}`", core.letter()),
            Self::File { path, line } => write!(out, "`{}`, line {line}", path.display()),
            Self::Argument => write!(out, "`-p`"),
        }
    }
}

/// All properties with what they are and where they stand.
#[derive(Debug)]
pub struct Given(BTreeMap<String, (String, Place)>);

impl Given {
    /// Read what is given; the error is one sentence.
    pub fn read(
        core: Option<Core>,
        files: &[PathBuf],
        arguments: &[String],
    ) -> Result<Self, String> {
        let mut all = BTreeMap::new();
        if let Some(core) = core {
            for property in properties::parse(core.properties())? {
                all.insert(property.name, (property.value, Place::Core(core)));
            }
        }
        for path in files {
            let failed = |what: String| format!("`{}`: {what}", path.display());
            let text = std::fs::read(path)
                .map_err(|error| failed(format!("{error}{}", built_in(path))))?;
            for property in properties::parse(&text).map_err(failed)? {
                let path = path.clone();
                let line = property.line;
                all.insert(property.name, (property.value, Place::File { path, line }));
            }
        }
        for argument in arguments {
            let (name, value) = argument
                .split_once('=')
                .filter(|(name, _)| !name.is_empty())
                .ok_or("`-p` takes a name and a value, such as `-p recordcount=1000`")?;
            if secrets::told(name, value) {
                return Err(secrets::refused(&format!("`-p {name}=`")));
            }
            all.insert(name.to_owned(), (value.to_owned(), Place::Argument));
        }
        Ok(Self(all))
    }

    /// All names, with where they stand.
    pub fn names(&self) -> impl Iterator<Item = (&str, &Place)> {
        self.0.iter().map(|(name, (_, place))| (&**name, place))
    }

    /// Where a property stands.
    pub fn place(&self, name: &str) -> Option<&Place> {
        self.0.get(name).map(|(_, place)| place)
    }

    /// A sentence for each of some properties that is given and has no effect, with the reason.
    /// Whoever takes a built-in workload has not written its properties.
    pub fn idle(&self, names: &[&str], why: &str) -> Vec<String> {
        let places = names
            .iter()
            .filter_map(|name| Some((name, self.place(name)?)));
        places
            .filter(|(_, place)| !matches!(place, Place::Core(_)))
            .map(|(name, place)| format!("no effect: `{name}` ({place}); {why}"))
            .collect()
    }

    /// A property as it is written.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|(value, _)| &**value)
    }

    /// A whole number, if it is there; the error is one sentence. As in Java no space may stand
    /// around it.
    pub fn number<T: FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        let number = self.text(name).map(str::parse).transpose();
        number.map_err(|_| self.wrong(name, "a whole number that is not negative, without spaces"))
    }

    /// A number of at least 0 as Java reads it, or else `default`; the error is one sentence.
    pub fn fraction(&self, name: &str, default: f64) -> Result<f64, String> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => fraction(text)
                .ok_or_else(|| self.wrong(name, "a number that is not negative, such as `0.5`")),
        }
    }

    /// A switch, or else `default`. As in Java all that is not `true`, in any case, is false.
    pub fn yes(&self, name: &str, default: bool) -> bool {
        self.text(name)
            .map_or(default, |text| text.eq_ignore_ascii_case("true"))
    }

    /// One of some words, or else the first of them; the error is one sentence.
    pub fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<T, String> {
        let text = self.text(name).unwrap_or(words[0].0);
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.wrong(name, &format!("one of {}", known.join(", ")))
        })
    }

    /// The sentence that a property of that name cannot be what it is, but must be `form`.
    pub fn wrong(&self, name: &str, form: &str) -> String {
        match self.0.get(name) {
            Some((value, place)) => {
                format!("`{name}` ({place}) is `{value}`; it must be {form}")
            }
            None => format!("`{name}` must be {form}"),
        }
    }
}

/// A number of at least 0 as `Double.parseDouble` reads it, but for those in hexadecimal.
fn fraction(text: &str) -> Option<f64> {
    let text = text.trim_matches(|letter| letter <= ' ');
    let text = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
    // Rust has words for numbers that are none.
    let digits = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let number: f64 = text.parse().ok().filter(|_| text.bytes().all(digits))?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// What to type instead of a file that is missing, if that is one of YCSB's own.
fn built_in(path: &Path) -> String {
    let name = path.file_name().and_then(|name| name.to_str());
    match name.and_then(|name| name.strip_prefix("workload")) {
        Some(letter @ ("a" | "b" | "c" | "d" | "e" | "f")) if !path.exists() => {
            format!("; YCSB's own one needs no file: --workload {letter}")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Properties after `-p`.
    pub fn given(arguments: &[&str]) -> Given {
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        Given::read(None, &[], &arguments).unwrap()
    }

    /// A file that vanishes with its owner.
    pub struct File(pub PathBuf);

    impl File {
        /// One that holds `text`; the name must be of its own.
        pub fn new(name: &str, text: &str) -> Self {
            let path = std::env::temp_dir().join(format!("dunnage-{}-{name}", std::process::id()));
            std::fs::write(&path, text).unwrap();
            Self(path)
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn later_files_and_then_arguments_win_and_places_are_told() {
        let first = File::new("given-1", "recordcount=1\nfieldcount=1\ntable=one\n");
        let second = File::new("given-2", "\nfieldcount=2\ntable=two\n");
        let files = [first.0.clone(), second.0.clone()];
        let given = Given::read(Some(Core::A), &files, &["table=th=ree".to_owned()]).unwrap();
        let found = |name| (given.text(name).unwrap(), given.place(name).unwrap());
        assert_eq!(found("operationcount"), ("1000", &Place::Core(Core::A)));
        let (path, line) = (first.0.clone(), 1);
        assert_eq!(found("recordcount"), ("1", &Place::File { path, line }));
        let (path, line) = (second.0.clone(), 2);
        assert_eq!(found("fieldcount"), ("2", &Place::File { path, line }));
        assert_eq!(found("table"), ("th=ree", &Place::Argument));
        let told = given.place("fieldcount").unwrap().to_string();
        assert_eq!(told, format!("`{}`, line 2", second.0.display()));
        assert_eq!(Place::Core(Core::F).to_string(), "`--workload f`");
    }

    #[test]
    fn numbers_and_switches_are_those_of_java() {
        let given = given(&[
            "one=+7",
            "space=7 ",
            "minus=-7",
            "large=4294967296",
            "half= .5f ",
            "ten=1e1",
            "nan=NaN",
            "hexadecimal=0x1p3",
            "yes=TRUE",
            "no=yes",
        ]);
        assert_eq!(given.number::<u32>("one"), Ok(Some(7)));
        assert_eq!(given.number::<u32>("none"), Ok(None));
        assert_eq!(given.number::<u64>("large"), Ok(Some(1 << 32)));
        for name in ["space", "minus", "large", "half"] {
            let said = given.number::<u32>(name).unwrap_err();
            assert!(said.starts_with(&format!("`{name}` (`-p`) is `")), "{said}");
            assert!(said.contains("a whole number"), "{said}");
        }
        let fraction = |name| given.fraction(name, 0.25);
        assert_eq!(fraction("half"), Ok(0.5));
        assert_eq!(fraction("ten"), Ok(10.0));
        assert_eq!(fraction("none"), Ok(0.25));
        for name in ["minus", "nan", "hexadecimal", "yes"] {
            assert!(fraction(name).unwrap_err().contains("not negative"));
        }
        assert!(given.yes("yes", false) && !given.yes("no", true) && given.yes("none", true));
    }

    #[test]
    fn a_word_is_one_of_those_that_there_are() {
        let given = given(&["which=b", "other=B"]);
        let words = [("a", 1), ("b", 2)];
        assert_eq!(given.word("which", &words), Ok(2));
        assert_eq!(given.word("none", &words), Ok(1));
        let said = "`other` (`-p`) is `B`; it must be one of `a`, `b`";
        assert_eq!(given.word("other", &words), Err(said.to_owned()));
    }

    #[test]
    fn what_is_no_property_is_refused_and_secrets_are_not_repeated() {
        let refused = |argument: &str| {
            let arguments = [argument.to_owned()];
            Given::read(None, &[], &arguments).unwrap_err()
        };
        for argument in ["s3cret", "=s3cret"] {
            let said = refused(argument);
            assert!(said.contains("a name and a value"), "{said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
        for argument in [
            "redis.password=s3cret",
            "cassandra.PassWord=s3cret",
            "mongodb.url=mongodb://u:s3cret@h/",
        ] {
            let said = refused(argument);
            assert!(said.contains("`DUNNAGE_PASSWORD`"), "{said}");
            assert!(!said.contains("s3cret"), "{said}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_and_what_is_built_in_is_named() {
        let refused = |path: &str| Given::read(None, &[path.into()], &[]).unwrap_err();
        let said = refused("/nowhere/workloade");
        assert!(said.starts_with("`/nowhere/workloade`: "), "{said}");
        assert!(said.ends_with("--workload e"), "{said}");
        assert!(!refused("/nowhere/mine").contains("--workload"));
        let broken = File::new("given-broken", "a=b\nc=\\u1");
        let said = refused(&broken.0.display().to_string());
        assert!(said.contains("`: line 2 has `\\u`"), "{said}");
    }
}
