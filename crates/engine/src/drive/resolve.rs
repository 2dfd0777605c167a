//! From `host:port` to an address. A static program cannot use the C library's resolver.

use std::net::{IpAddr, SocketAddr};

use hickory_resolver::TokioResolver;

use super::{Failure, Fault};

/// Resolve `address`, by the hosts file and the name servers of this host unless it is numeric.
pub async fn resolve(address: &str) -> Result<SocketAddr, Failure> {
    if let Ok(numeric) = address.parse() {
        return Ok(numeric);
    }
    let failed = |what: String| Failure::new(Fault::Connection, format!("`{address}`: {what}"));
    let (host, port) = address
        .rsplit_once(':')
        .ok_or_else(|| failed("not of the form `host:port`".to_owned()))?;
    let port = port
        .parse::<u16>()
        .map_err(|error| failed(error.to_string()))?;
    if let Ok(numeric) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Ok(SocketAddr::new(numeric, port));
    }
    let found = TokioResolver::builder_tokio()
        .map_err(|error| failed(error.to_string()))?
        .build()
        .lookup_ip(host)
        .await
        .map_err(|error| failed(error.to_string()))?;
    let first = found
        .iter()
        .next()
        .ok_or_else(|| failed("the name has no address".to_owned()))?;
    Ok(SocketAddr::new(first, port))
}
