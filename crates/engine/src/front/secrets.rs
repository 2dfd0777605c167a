//! Passwords from the environment or a file, never from a command line.

use std::path::Path;

use wire::load::{Credentials, Secret};

use super::given::{Given, Place};

/// The variable of the environment that a password can be in.
pub const VARIABLE: &str = "DUNNAGE_PASSWORD";

/// Parts of names that are those of secrets, wherever they stand in a name.
const PARTS: [&str; 8] = [
    "password",
    "passwd",
    "passphrase",
    "requirepass",
    "masterauth",
    "secret",
    "token",
    "credential",
];
/// Words that are those of secrets, between `.`, `_` and `-`.
const WORDS: [&str; 4] = ["pass", "pwd", "auth", "bearer"];
/// What keys that are secrets are for.
const KEYS: [&str; 4] = ["access", "api", "encryption", "private"];

/// Whether a name is that of a secret, or a value a URL with a password.
pub fn told(name: &str, value: &str) -> bool {
    named(&name.to_ascii_lowercase()) || in_url(value)
}

/// Whether a name in small letters is that of a secret. `names_a_secret` of the orchestration
/// (`dunnage/secrets/names.py`) knows the same ones.
fn named(name: &str) -> bool {
    let words: Vec<&str> = name.split(['.', '_', '-']).collect();
    let key = |purpose: &&str| match words[..] {
        [.., word] if word.strip_suffix("key") == Some(purpose) => true,
        [.., before, "key"] => before == *purpose,
        _ => false,
    };
    PARTS.iter().any(|part| name.contains(part))
        || words.iter().any(|word| WORDS.contains(word))
        || KEYS.iter().any(key)
}

/// Whether a URL has a password in it.
pub fn in_url(text: &str) -> bool {
    let place = text.split_once("://").map_or("", |(_, place)| place);
    place
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.contains(':'))
}

/// The sentence that refuses a password, with what to do instead; `place` is where it stands.
pub fn refused(place: &str) -> String {
    format!("{place} has a password, which all users of this machine can read there; {INSTEAD}")
}

/// What to do with a password.
const INSTEAD: &str = "put it into the variable `DUNNAGE_PASSWORD`, or into a file for \
     `--password-file`";

/// As whom to log in to a database of `driver`: with the password of `file`, or else of a property
/// in a file of `-P`, or else of the environment's `variable`, if that is set. The error is one
/// sentence.
pub fn credentials(
    driver: &str,
    user: Option<String>,
    file: Option<&Path>,
    given: &Given,
    variable: bool,
) -> Result<Option<Credentials>, String> {
    let password = match (file, of_property(driver, given)?) {
        (Some(file), _) => Some(Secret::File(absolute(file)?)),
        (None, Some(property)) => Some(property),
        // The server inside the engine has no users, whatever the environment is set up for.
        (None, None) => (variable && driver != "fake").then(|| Secret::Variable(VARIABLE.into())),
    };
    match (user, password) {
        (None, None) => Ok(None),
        (None, Some(Secret::Variable(name))) if driver != "redis" => Err(format!(
            "there is a password in `{name}`, but no user; type: --user NAME, or, if the password \
             is for another database: unset {name}"
        )),
        (None, Some(_)) if driver != "redis" => {
            Err("there is a password, but no user; type: --user NAME".to_owned())
        }
        (user, Some(password)) => Ok(Some(Credentials { user, password })),
        (Some(user), None) => Err(format!(
            "there is no password for the user `{user}`; {INSTEAD}"
        )),
    }
}

/// The property of YCSB's binding with the password, where a file of `-P` has it.
fn of_property(driver: &str, given: &Given) -> Result<Option<Secret>, String> {
    let name = format!("{driver}.password");
    match given.place(&name) {
        Some(Place::File { path, .. }) if given.text(&name) != Some("") => {
            let file = absolute(path)?;
            Ok(Some(Secret::Property { file, name }))
        }
        _ => Ok(None),
    }
}

/// A path that means the same wherever a plan is carried out on this machine; the error is one
/// sentence.
pub fn absolute(path: &Path) -> Result<String, String> {
    std::path::absolute(path)
        .map_err(|error| error.to_string())?
        .into_os_string()
        .into_string()
        .map_err(|path| format!("the path `{}` is not text", path.display()))
}

#[cfg(test)]
mod tests {
    use super::super::given::tests::{File, given};
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn names_and_urls_of_secrets_are_known() {
        // `tests/unit/secrets/test_secrets_names.py` reads the same.
        let golden = include_str!("../../tests/golden/secret_names.json");
        let golden: BTreeMap<String, Vec<String>> = serde_json::from_str(golden).unwrap();
        for (sort, names) in golden {
            for name in names {
                assert_eq!(told(&name, ""), sort == "secret", "{name}");
            }
        }
        assert!(told("url", "mongodb://u:p@h"));
        assert!(!told("url", "mongodb://u@h:27017"));
        assert!(!told("url", "mongodb://h:27017/"));
    }

    #[test]
    fn a_password_is_named_by_its_place_and_the_file_goes_first() {
        let file = File::new("secrets", "cassandra.password=s3cret\nredis.password=\n");
        let files = [file.0.clone()];
        let of_file = Given::read(None, &files, &[]).unwrap();
        let path = file.0.display().to_string();
        let user = || Some("me".to_owned());
        let place = |driver, user, file: Option<&str>, given: &Given, variable| {
            credentials(driver, user, file.map(Path::new), given, variable)
                .unwrap()
                .map(|found| found.password)
        };
        let name = "cassandra.password".to_owned();
        let property = Some(Secret::Property { file: path, name });
        let own = Some(Secret::File("/own".to_owned()));
        let variable = Some(Secret::Variable("DUNNAGE_PASSWORD".to_owned()));
        assert_eq!(
            place("cassandra", user(), Some("/own"), &of_file, true),
            own
        );
        assert_eq!(place("cassandra", user(), None, &of_file, true), property);
        assert_eq!(place("redis", user(), None, &of_file, true), variable);
        assert_eq!(place("redis", None, None, &of_file, true), variable);
        assert_eq!(place("redis", None, None, &of_file, false), None);
        assert_eq!(place("fake", None, None, &of_file, true), None);
        let relative = place("redis", None, Some("own"), &given(&[]), false);
        let Some(Secret::File(path)) = relative else {
            panic!("{relative:?}");
        };
        assert!(
            Path::new(&path).is_absolute() && path.ends_with("/own"),
            "{path}"
        );
    }

    #[test]
    fn half_a_log_in_is_refused_with_the_other_half() {
        let none = given(&[]);
        let said = credentials("cassandra", Some("me".to_owned()), None, &none, false);
        let said = said.unwrap_err();
        assert!(said.contains("no password for the user `me`"), "{said}");
        assert!(said.contains("`DUNNAGE_PASSWORD`"), "{said}");
        let said = credentials("cassandra", None, None, &none, true).unwrap_err();
        assert!(said.contains("--user NAME"), "{said}");
        assert!(said.ends_with("unset DUNNAGE_PASSWORD"), "{said}");
        let file = Some(Path::new("/own"));
        let said = credentials("mongodb", None, file, &none, true).unwrap_err();
        assert!(said.ends_with("--user NAME"), "{said}");
    }
}
