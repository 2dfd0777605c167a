//! From what is typed to whom the load goes, as whom, and by which connections.

use wire::load::{Target, Tls};

use super::address::Address;
use super::arguments::Security;
use super::given::Given;
use super::plan::Surroundings;
use super::secrets;

/// The user of the address, or the one that is typed.
pub fn user(of_address: Option<String>, security: &Security) -> Result<Option<String>, String> {
    match (of_address, security.user.clone()) {
        (Some(one), Some(other)) if one != other => {
            Err("the address has one user, and `--user` another one; write one of them".to_owned())
        }
        (of_address, typed) => Ok(of_address.or(typed)),
    }
}

/// Where the load goes; the error is one sentence.
pub fn target(
    address: Address,
    security: &Security,
    given: &Given,
    surroundings: &Surroundings,
) -> Result<Target, String> {
    let file = security.password_file.as_deref();
    let driver = address.driver;
    let credentials =
        secrets::credentials(driver, address.user, file, given, surroundings.password)?;
    Ok(Target {
        driver: driver.to_owned(),
        topology: address.topology,
        addresses: address.members,
        options: address.options,
        credentials,
        tls: tls(security, address.encrypted)?,
    })
}

/// How connections are encrypted, if anything that is typed means that they are.
fn tls(security: &Security, encrypted: bool) -> Result<Option<Tls>, String> {
    let (authority, name) = (&security.tls_ca, &security.tls_name);
    let insecure = security.tls_insecure;
    let meant = security.tls || insecure || authority.is_some() || name.is_some();
    if !meant && !encrypted {
        return Ok(None);
    }
    if insecure && (authority.is_some() || name.is_some()) {
        return Err(
            "`--tls-insecure` takes any certificate; leave out `--tls-ca` and `--tls-name`"
                .to_owned(),
        );
    }
    Ok(Some(Tls {
        authority: authority.as_deref().map(secrets::absolute).transpose()?,
        name: name.clone(),
        insecure,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::given::tests::File;
    use super::super::plan::tests::plan;
    use super::*;
    use wire::load::{Credentials, Secret};

    #[test]
    fn a_plan_names_the_place_of_a_password_and_never_has_it() {
        let file = File::new("plan-password", "s3cret\n");
        let path = file.0.display().to_string();
        let found = plan(&format!(
            "cassandra://h --user me --password-file {path} --workload a --tls-name db"
        ));
        let expected = Credentials {
            user: Some("me".to_owned()),
            password: Secret::File(path),
        };
        assert_eq!(found.target.credentials, Some(expected));
        let tls = Tls {
            authority: None,
            name: Some("db".to_owned()),
            insecure: false,
        };
        assert_eq!(found.target.tls, Some(tls));
        assert!(!serde_json::to_string(&found).unwrap().contains("s3cret"));
        let properties = File::new("plan-properties", "cassandra.password=s3cret\n");
        let path = properties.0.display().to_string();
        let found = plan(&format!(
            "cassandra://me@h --user me -P {path} --workload a"
        ));
        let credentials = found.target.credentials.unwrap();
        let name = "cassandra.password".to_owned();
        assert_eq!(credentials.password, Secret::Property { file: path, name });
    }

    #[test]
    fn connections_are_encrypted_if_anything_means_it() {
        for (words, insecure) in [
            ("rediss://h", false),
            ("redis://h?tls", false),
            ("redis://h --tls", false),
            ("redis://h --tls-ca /ca.pem", false),
            ("redis://h --tls-insecure", true),
        ] {
            let tls = plan(&format!("{words} --workload a")).target.tls.unwrap();
            assert_eq!(tls.insecure, insecure, "{words}");
            let authority = words.contains("/ca.pem").then_some("/ca.pem");
            assert_eq!(tls.authority.as_deref(), authority, "{words}");
        }
    }
}
