//! Asking a server what it is.

use super::answer::{Answer, COMMAND_NOT_FOUND, Refusal};
use super::bson::{Document, Malformed, Value};
use super::link::Link;
use super::message::message;
use crate::drive::Failure;

/// What a server says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hello {
    /// Whether it is a router (`mongos`) of a sharded cluster.
    pub router: bool,
    /// The replica set that it belongs to.
    pub set: Option<String>,
    /// `host:port` of the set's members that have data, as they tell each other and clients.
    pub hosts: Vec<String>,
    /// Whether it takes writes.
    pub primary: bool,
    /// Whether it follows a primary.
    pub secondary: bool,
    /// The election that made it the primary; later ones are greater.
    pub election: Vec<u8>,
}

/// Greet a server on a new connection, by the command's older name where it does not know the
/// newer one.
pub async fn greet(link: &mut Link) -> Result<Hello, Failure> {
    let mut request = Vec::new();
    write(&mut request, "hello");
    match heard(link.ask(&mut request).await?) {
        Err(refusal) if refusal.code == COMMAND_NOT_FOUND => {}
        heard => return heard.map_err(|refusal| refusal.failure),
    }
    write(&mut request, "isMaster");
    heard(link.ask(&mut request).await?).map_err(|refusal| refusal.failure)
}

/// The greeting says who the client is, for the server's log.
fn write(out: &mut Vec<u8>, command: &str) {
    message(out, 0, |body| {
        body.integer(command, 1);
        body.document("client", |client| {
            client.document("application", |application| {
                application.text("name", "dunnage-engine");
            });
            client.document("driver", |driver| {
                driver.text("name", "dunnage-engine");
                driver.text("version", env!("CARGO_PKG_VERSION"));
            });
            client.document("os", |system| system.text("type", "Linux"));
        });
        body.text("$db", "admin");
    });
}

fn heard(answer: Document<'_>) -> Result<Hello, Refusal> {
    Answer::read(answer)?;
    Ok(Hello::read(answer)?)
}

impl Hello {
    fn read(answer: Document<'_>) -> Result<Self, Malformed> {
        let mut hello = Self::default();
        for element in answer.elements() {
            match element? {
                (b"msg", told) => hello.router = told == Value::Text(b"isdbgrid"),
                (b"setName", told) => hello.set = told.text().map(Into::into),
                (b"hosts" | b"passives", Value::Document(hosts)) => {
                    for host in hosts.elements() {
                        let (_, host) = host?;
                        hello.hosts.push(host.text().ok_or(Malformed)?.into());
                    }
                }
                (b"isWritablePrimary" | b"ismaster", told) => {
                    hello.primary = told == Value::Boolean(true);
                }
                (b"secondary", told) => hello.secondary = told == Value::Boolean(true),
                (b"electionId", Value::Id(election)) => hello.election = election.to_vec(),
                _ => {}
            }
        }
        Ok(hello)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bson::{Writer, document};
    use super::*;

    fn said(content: impl FnOnce(&mut Writer<'_>)) -> Result<Hello, Malformed> {
        let mut out = Vec::new();
        document(&mut out, content);
        Hello::read(Document::first_of(&out).unwrap())
    }

    #[test]
    fn a_member_of_a_replica_set_tells_its_role_and_the_others() {
        let primary = said(|answer| {
            answer.boolean("isWritablePrimary", true);
            answer.boolean("secondary", false);
            answer.text("setName", "rs0");
            answer.document("hosts", |hosts| {
                hosts.text("0", "db-1:27017");
                hosts.text("1", "db-2:27017");
            });
            answer.document("passives", |hosts| hosts.text("0", "db-3:27017"));
            answer.document("arbiters", |hosts| hosts.text("0", "db-4:27017"));
        })
        .unwrap();
        assert!(primary.primary && !primary.secondary && !primary.router);
        assert_eq!(primary.set.as_deref(), Some("rs0"));
        assert_eq!(primary.hosts, ["db-1:27017", "db-2:27017", "db-3:27017"]);
    }

    #[test]
    fn routers_and_servers_of_older_versions_are_known() {
        let router = said(|answer| answer.text("msg", "isdbgrid")).unwrap();
        assert!(router.router);
        let older = said(|answer| answer.boolean("ismaster", true)).unwrap();
        assert!(older.primary && older.set.is_none());
        let election = said(|answer| answer.binary("electionId", b"no identifier")).unwrap();
        assert_eq!(election, Hello::default());
    }

    #[test]
    fn hosts_that_are_no_texts_make_no_sense() {
        let odd = said(|answer| answer.document("hosts", |hosts| hosts.integer("0", 1)));
        assert_eq!(odd, Err(Malformed));
    }
}
