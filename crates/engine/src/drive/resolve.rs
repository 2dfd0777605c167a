//! From names to addresses. A static program cannot use the C library's resolver.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfigGroup, ResolveHosts, ResolverConfig};
use hickory_resolver::name_server::TokioConnectionProvider;

use super::{Failure, Fault};

/// Where name servers listen, RFC 1035.
const DNS_PORT: u16 = 53;

/// The addresses of a host, by the hosts file and the name servers of this host unless it is
/// numeric: those of IPv4, or those of IPv6 when it has no others. The error is one sentence.
pub async fn lookup(host: &str) -> Result<Vec<IpAddr>, String> {
    if let Ok(numeric) = host.trim_matches(['[', ']']).parse() {
        return Ok(vec![numeric]);
    }
    let resolver = TokioResolver::builder_tokio().map_err(|error| error.to_string())?;
    let found = resolver.build().lookup_ip(host).await;
    Ok(found.map_err(|error| error.to_string())?.iter().collect())
}

/// The same by one name server alone, whatever this host's hosts file and name servers say.
pub async fn lookup_by(server: Ipv4Addr, host: &str) -> Result<Vec<IpAddr>, String> {
    let servers = NameServerConfigGroup::from_ips_clear(&[server.into()], DNS_PORT, true);
    let config = ResolverConfig::from_parts(None, Vec::new(), servers);
    let provider = TokioConnectionProvider::default();
    let mut resolver = TokioResolver::builder_with_config(config, provider);
    resolver.options_mut().use_hosts_file = ResolveHosts::Never;
    let found = resolver.build().lookup_ip(host).await;
    Ok(found.map_err(|error| error.to_string())?.iter().collect())
}

/// The first address of `host:port`.
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
    let found = lookup(host).await.map_err(failed)?;
    let first = found
        .first()
        .ok_or_else(|| failed("the name has no address".to_owned()))?;
    Ok(SocketAddr::new(*first, port))
}

/// The host of `host:port`.
pub fn host(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

/// What `host:port` texts were resolved to. Each is resolved once: a name server that is asked
/// again while a load is under way would add its own time to that of an operation.
#[derive(Default)]
pub struct Resolved(RefCell<BTreeMap<String, SocketAddr>>);

impl Resolved {
    /// What [`resolve`] said when it was first asked; only failures are tried again.
    pub async fn address(&self, address: &str) -> Result<SocketAddr, Failure> {
        let known = self.0.borrow().get(address).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = resolve(address).await?;
        self.0.borrow_mut().insert(address.to_owned(), found);
        Ok(found)
    }

    /// An address as messages tell it: with its name before it, if it was found by one.
    pub fn told(&self, remote: SocketAddr) -> String {
        let known = self.0.borrow();
        let name = known
            .iter()
            .find(|(text, found)| **found == remote && text.parse() != Ok(remote));
        match name {
            Some((name, _)) => format!("`{name}` ({remote})"),
            None => format!("`{remote}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait<Output>(future: impl Future<Output = Output>) -> Output {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn numeric_addresses_stand_for_themselves() {
        for address in ["10.0.0.1:9042", "[fd00::1]:9042"] {
            assert_eq!(wait(resolve(address)).unwrap().to_string(), address);
        }
        assert_eq!(
            wait(lookup("10.0.0.1")),
            Ok(vec![IpAddr::from([10, 0, 0, 1])])
        );
    }

    #[test]
    fn what_is_not_host_and_port_is_refused_by_name() {
        let said = |address| wait(resolve(address)).unwrap_err().message;
        assert_eq!(said("db-1"), "`db-1`: not of the form `host:port`");
        assert!(said("db-1:ring").starts_with("`db-1:ring`: "));
    }

    #[test]
    fn a_name_is_resolved_once_and_told_with_its_address() {
        let resolved = Resolved::default();
        let found = wait(resolved.address("localhost:9042")).unwrap();
        assert_eq!(found.to_string(), "127.0.0.1:9042");
        assert_eq!(
            resolved.told(found),
            "`localhost:9042` (127.0.0.1:9042)".to_owned()
        );

        // A name that nothing resolves, as if its name server had just gone away.
        let (name, remote) = ("gone.invalid:1", SocketAddr::from(([10, 0, 0, 1], 1)));
        resolved.0.borrow_mut().insert(name.to_owned(), remote);
        assert_eq!(wait(resolved.address(name)), Ok(remote));
    }

    #[test]
    fn an_address_without_a_name_is_told_as_it_is() {
        let resolved = Resolved::default();
        let remote = wait(resolved.address("10.0.0.1:6379")).unwrap();
        assert_eq!(resolved.told(remote), "`10.0.0.1:6379`");
    }
}
