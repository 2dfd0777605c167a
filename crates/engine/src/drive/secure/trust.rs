//! Which certificates of servers are believed.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use wire::load::Tls;

/// Where systems keep the certificates that they trust: Debian, Red Hat, SUSE, Alpine.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// The environment variable that names another such file, as for OpenSSL.
const VARIABLE: &str = "SSL_CERT_FILE";

/// What a client demands of a server. A name that is demanded is checked whatever name or address
/// a driver connects by. `hosts` are the hosts of addresses, for a driver that connects by address:
/// a certificate must be for the host. The error is one sentence.
pub fn configuration(tls: &Tls, hosts: &[(IpAddr, &str)]) -> Result<ClientConfig, String> {
    if tls.insecure && tls.authority.is_some() {
        return Err("`tls` cannot name an `authority` where any certificate will do".to_owned());
    }
    let provider = Arc::new(ring::default_provider());
    let known = if tls.insecure {
        None
    } else {
        let roots = match &tls.authority {
            Some(path) => authority(Path::new(path))?,
            None => system(std::env::var_os(VARIABLE), &BUNDLES)?,
        };
        let known = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        Some(known.build().map_err(|error| error.to_string())?)
    };
    let demand = Demand {
        name: tls.name.as_deref().map(name).transpose()?,
        hosts: hosts
            .iter()
            .map(|(address, host)| Ok((ServerName::from(*address), name(host)?)))
            .collect::<Result<_, String>>()?,
        known,
        algorithms: provider.signature_verification_algorithms,
    };
    let versions = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(versions
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(demand))
        .with_no_client_auth())
}

/// A host or an address as certificates name it. The error is one sentence.
pub fn name(host: &str) -> Result<ServerName<'static>, String> {
    ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
        .map_err(|_| format!("`{host}` is no name that a certificate can be for"))
}

/// The certificates in a file that a plan names, all of which must be good.
fn authority(path: &Path) -> Result<RootCertStore, String> {
    match roots(path)? {
        (roots, 0) => Ok(roots),
        (_, bad) => Err(format!(
            "{bad} of the certificates to trust in `{}` cannot be used",
            path.display()
        )),
    }
}

/// Those that this host trusts, as far as they can be used: in the file that is `named`, else in
/// the first of `places` that there is.
fn system(named: Option<OsString>, places: &[&str]) -> Result<RootCertStore, String> {
    let there = || {
        let mut paths = places.iter().map(PathBuf::from);
        paths.find(|path| path.exists())
    };
    let path = named.map(PathBuf::from).or_else(there).ok_or_else(|| {
        format!(
            "this host has no certificates to trust: there is none of `{}`; name a file as \
             `authority`, or as ${VARIABLE}",
            places.join("`, `")
        )
    })?;
    Ok(roots(&path)?.0)
}

/// The certificates in a file, at least one, and how many others are in it that cannot be used.
fn roots(path: &Path) -> Result<(RootCertStore, usize), String> {
    let failed =
        |what: &dyn Display| format!("no certificates to trust from `{}`: {what}", path.display());
    let text = std::fs::read(path).map_err(|error| failed(&error))?;
    let certificates = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| failed(&error))?;
    let mut roots = RootCertStore::empty();
    let (good, bad) = roots.add_parsable_certificates(certificates);
    if good == 0 {
        return Err(failed(&"there is none in it"));
    }
    Ok((roots, bad))
}

/// What is demanded of a certificate. Whoever shows one must have its key in any case.
#[derive(Debug)]
struct Demand {
    /// What it must be for; None: what was connected to.
    name: Option<ServerName<'static>>,
    /// The hosts of addresses: who connects to one of these means the host.
    hosts: HashMap<ServerName<'static>, ServerName<'static>>,
    /// Who can vouch for it; None: nobody needs to.
    known: Option<Arc<WebPkiServerVerifier>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Demand {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(known) = &self.known else {
            return Ok(ServerCertVerified::assertion());
        };
        let name = self.name.as_ref().or_else(|| self.hosts.get(server_name));
        let name = name.unwrap_or(server_name);
        known.verify_server_cert(end_entity, intermediates, name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate whose key nobody has.
    const CERTIFICATE: &str = include_str!("certificate.pem");

    /// A file that vanishes with its owner.
    struct File(PathBuf);

    impl File {
        fn new(name: &str, text: &str) -> Self {
            let name = format!("dunnage-trust-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, text).unwrap();
            Self(path)
        }

        fn path(&self) -> &str {
            self.0.to_str().unwrap()
        }
    }

    impl Drop for File {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn by(authority: &str) -> Result<ClientConfig, String> {
        let tls = Tls {
            authority: Some(authority.to_owned()),
            name: None,
            insecure: false,
        };
        configuration(&tls, &[])
    }

    #[test]
    fn an_authority_is_a_file_of_certificates() {
        let good = File::new("good", CERTIFICATE);
        assert!(by(good.path()).is_ok());

        let empty = File::new("empty", "nothing\n");
        let said = by(empty.path()).unwrap_err();
        assert!(said.ends_with("there is none in it"), "{said}");

        let missing = by("/nowhere/ca.pem").unwrap_err();
        assert!(missing.starts_with("no certificates to trust from `/nowhere/ca.pem`: "));
    }

    #[test]
    fn a_bad_certificate_is_refused_in_an_authority_and_left_out_among_those_of_the_host() {
        let bad = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let mixed = File::new("mixed", &format!("{CERTIFICATE}{bad}"));
        let said = by(mixed.path()).unwrap_err();
        assert!(said.starts_with("1 of the certificates"), "{said}");
        assert_eq!(system(None, &[mixed.path()]).unwrap().len(), 1);
    }

    #[test]
    fn those_of_the_host_are_in_the_file_that_is_named_else_in_the_first_that_there_is() {
        let one = File::new("one", CERTIFICATE);
        let two = File::new("two", &CERTIFICATE.repeat(2));
        let places = ["/nowhere/ca.pem", two.path(), one.path()];
        assert_eq!(system(None, &places).unwrap().len(), 2);
        let named = Some(OsString::from(one.path()));
        assert_eq!(system(named, &places).unwrap().len(), 1);
        let said = system(None, &places[..1]).unwrap_err();
        assert!(
            said.contains("there is none of `/nowhere/ca.pem`"),
            "{said}"
        );
    }

    #[test]
    fn what_contradicts_itself_or_names_nobody_is_refused() {
        let mut tls = Tls {
            authority: Some("/nowhere/ca.pem".to_owned()),
            name: None,
            insecure: true,
        };
        let said = configuration(&tls, &[]).unwrap_err();
        assert!(said.contains("any certificate will do"), "{said}");
        tls.authority = None;
        assert!(configuration(&tls, &[]).is_ok());
        let said = configuration(&tls, &[(IpAddr::from([10, 0, 0, 1]), "a name")]).unwrap_err();
        assert_eq!(said, "`a name` is no name that a certificate can be for");
        tls.name = Some("not a name".to_owned());
        let said = configuration(&tls, &[]).unwrap_err();
        assert_eq!(
            said,
            "`not a name` is no name that a certificate can be for"
        );
    }

    #[test]
    fn hosts_are_named_as_in_certificates() {
        for (host, named) in [
            ("redis.test", "redis.test"),
            ("10.0.0.1", "10.0.0.1"),
            ("[fd00::1]", "fd00::1"),
        ] {
            assert_eq!(name(host).unwrap().to_str(), named);
        }
        let address = |host| matches!(name(host), Ok(ServerName::IpAddress(_)));
        assert!(address("10.0.0.1") && address("[fd00::1]") && !address("redis.test"));
    }
}
