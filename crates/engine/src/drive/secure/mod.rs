//! Logging in, and TLS: what all drivers share.

use wire::load::Target;

pub use self::connector::{Connector, Stream};
pub use self::login::Login;
pub use self::trust::configuration;

mod connector;
mod login;
mod trust;

/// For a driver that can neither log in nor encrypt: refuse a target that demands it, rather than
/// drive it in the open. The error is one sentence.
pub fn refuse(target: &Target) -> Result<(), String> {
    let demanded = [
        (target.credentials.is_some(), "log in", "credentials"),
        (target.tls.is_some(), "use TLS", "tls"),
    ];
    match demanded.into_iter().find(|(demanded, _, _)| *demanded) {
        Some((_, what, key)) => Err(format!(
            "the driver `{}` cannot {what} yet; `{key}` must be null",
            target.driver
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::{Credentials, Secret, Tls};

    #[test]
    fn what_is_to_be_secure_is_never_driven_in_the_open() {
        let mut target = plan().target;
        assert_eq!(refuse(&target), Ok(()));
        target.tls = Some(Tls {
            authority: None,
            name: None,
            insecure: false,
        });
        let said = "the driver `fake` cannot use TLS yet; `tls` must be null";
        assert_eq!(refuse(&target), Err(said.to_owned()));
        target.credentials = Some(Credentials {
            user: None,
            password: Secret::File("/dev/null".to_owned()),
        });
        assert!(refuse(&target).unwrap_err().contains("cannot log in yet"));
    }
}
