//! As whom a driver logs in.

use wire::load::{Secret, Target};

use crate::load::plan::secret;

/// What stands for a password in a message.
const MASK: &str = "***";
/// Fewer bytes of the beginning of a password say nothing about it.
const TELLING: usize = 4;

/// A user and a password. Nothing prints the latter.
pub struct Login {
    user: Option<String>,
    password: String,
    /// Where the password was found.
    place: Secret,
}

impl Login {
    /// What a target asks for; None where it asks for nothing. The password is read from where the
    /// plan says that it is. The error is one sentence, and tells nothing of what was found.
    pub fn of(target: &Target) -> Result<Option<Self>, String> {
        let Some(credentials) = &target.credentials else {
            return Ok(None);
        };
        Ok(Some(Self {
            user: credentials.user.clone(),
            password: secret(&credentials.password)?,
            place: credentials.password.clone(),
        }))
    }

    /// The user; None where the database has one password and no users.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The password.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// What to do about a password that is refused.
    pub fn remedy(&self) -> String {
        match &self.place {
            Secret::File(path) => format!("write the right password into `{path}`"),
            Secret::Variable(name) => {
                format!("give the right password; type: read -rs {name} && export {name}")
            }
            Secret::Property { file, name } => {
                format!("write the right password into `{file}`, as the property `{name}`")
            }
        }
    }

    /// What to do where a server has no passwords.
    pub fn unneeded(&self) -> String {
        match &self.place {
            Secret::File(_) => "leave out --password-file".to_owned(),
            Secret::Variable(name) => format!("type: unset {name}"),
            Secret::Property { file, name } => {
                format!("take the property `{name}` out of `{file}`")
            }
        }
    }

    /// What a server said without the password. Some servers quote a command that they do not know,
    /// or as much of it as fits.
    pub fn masked(&self, said: &str) -> String {
        let whole = self.password.len();
        let quoted = (TELLING.min(whole)..=whole)
            .rev()
            .filter_map(|length| self.password.get(..length))
            .find(|beginning| said.contains(beginning));
        match quoted {
            Some(beginning) => said.replace(beginning, MASK),
            None => said.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::Credentials;

    fn login(password: &str) -> Login {
        Login {
            user: None,
            password: password.to_owned(),
            place: Secret::Variable("PASSWORD".to_owned()),
        }
    }

    #[test]
    fn a_refused_password_is_to_be_put_right_where_it_was_found() {
        let mut login = login("s3cret");
        assert!(
            login
                .remedy()
                .ends_with("type: read -rs PASSWORD && export PASSWORD")
        );
        login.place = Secret::File("/f".to_owned());
        assert_eq!(login.remedy(), "write the right password into `/f`");
        login.place = Secret::Property {
            file: "/p".to_owned(),
            name: "redis.password".to_owned(),
        };
        assert!(
            login
                .remedy()
                .contains("`/p`, as the property `redis.password`")
        );
        assert_eq!(
            login.unneeded(),
            "take the property `redis.password` out of `/p`"
        );
        login.place = Secret::Variable("PASSWORD".to_owned());
        assert_eq!(login.unneeded(), "type: unset PASSWORD");
    }

    #[test]
    fn a_login_is_what_the_plan_names() {
        let mut target = plan().target;
        assert!(Login::of(&target).unwrap().is_none());
        // Cargo sets these variables for every test.
        let mut asked = |user: Option<&str>, variable: &str| {
            target.credentials = Some(Credentials {
                user: user.map(str::to_owned),
                password: Secret::Variable(variable.to_owned()),
            });
            Login::of(&target)
        };
        let found = asked(Some("app"), "CARGO_PKG_NAME").unwrap().unwrap();
        assert_eq!((found.user(), found.password()), (Some("app"), "engine"));
        let missing = asked(None, "DUNNAGE_NO_SUCH_SECRET").err().unwrap();
        assert!(missing.contains("it is not set"), "{missing}");
    }

    #[test]
    fn a_password_that_a_server_quotes_is_masked_whole_or_cut() {
        let login = login("s3cret word");
        assert_eq!(
            login.masked("unknown command 'AUTH', with args beginning with: 's3cret word'"),
            "unknown command 'AUTH', with args beginning with: '***'"
        );
        assert_eq!(
            login.masked("beginning with: 's3cret w"),
            "beginning with: '***"
        );
        assert_eq!(login.masked("WRONGPASS invalid"), "WRONGPASS invalid");
    }

    #[test]
    fn a_short_password_is_masked_too() {
        assert_eq!(login("ab").masked("args: 'ab'"), "args: '***'");
        assert_eq!(login("pässword").masked("args: 'päs"), "args: '***");
    }
}
