//! Which servers a key belongs to.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::resp::Tree;

const SLOTS: usize = 16384;

/// The slot of a key: CRC16 of its hash tag if it has one, else of all of it.
pub fn slot(key: &[u8]) -> u16 {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let rest = &key[open + 1..];
        let close = rest.iter().position(|byte| *byte == b'}')?;
        (close > 0).then(|| &rest[..close])
    });
    crc16(tag.unwrap_or(key)) % SLOTS as u16
}

/// CRC-16/XMODEM, as the Redis Cluster specification asks.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)]
    })
}

static TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut crc = (index as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 == 0 {
                crc << 1
            } else {
                (crc << 1) ^ 0x1021
            };
            bit += 1;
        }
        table[index] = crc;
        index += 1;
    }
    table
};

/// Every slot's server, and its replicas. Servers are numbered in the order in which they were
/// first heard of.
pub struct Map {
    servers: Vec<String>,
    owners: Vec<u16>,
    /// By the number of their primary; who is not here has none.
    replicas: BTreeMap<usize, Vec<usize>>,
}

impl Map {
    /// One server has every slot.
    pub fn single(server: &str, replicas: &[String]) -> Self {
        let mut map = Self {
            servers: vec![server.to_owned()],
            owners: vec![0; SLOTS],
            replicas: BTreeMap::new(),
        };
        map.follow(0, replicas);
        map
    }

    /// These are the replicas of a primary.
    fn follow(&mut self, primary: usize, replicas: &[String]) {
        let numbers: Vec<usize> = replicas
            .iter()
            .map(|replica| usize::from(self.number(replica)))
            .collect();
        if !numbers.is_empty() {
            self.replicas.insert(primary, numbers);
        }
    }

    /// Take over what `CLUSTER SLOTS` said; `asked` is the host that was asked, for the servers
    /// that do not know their own. False when it is no such answer.
    pub fn learn(&mut self, answer: &Tree, asked: &str) -> bool {
        let Tree::Array(ranges) = answer else {
            return false;
        };
        let parsed = ranges.iter().map(|range| parse_range(range, asked));
        let Some(parsed) = parsed.collect::<Option<Vec<_>>>() else {
            return false;
        };
        if parsed.is_empty() {
            return false;
        }
        self.replicas.clear();
        for range in &parsed {
            let owner = self.number(&range.owner);
            self.owners[range.slots.clone()].fill(owner);
            self.follow(usize::from(owner), &range.replicas);
        }
        true
    }

    /// The server of a slot.
    pub fn owner(&self, slot: u16) -> usize {
        usize::from(self.owners[usize::from(slot)])
    }

    /// The replica of a primary that those who have `turn` read from; None where it has none.
    pub fn replica(&self, primary: usize, turn: usize) -> Option<usize> {
        let replicas = self.replicas.get(&primary)?;
        Some(replicas[turn % replicas.len()])
    }

    /// A redirection said that `slot` is at `server` now.
    pub fn moved(&mut self, slot: u16, server: &str) {
        self.owners[usize::from(slot)] = self.number(server);
    }

    /// The number of a server, a new one if it was not heard of before.
    pub fn number(&mut self, server: &str) -> u16 {
        let known = self.servers.iter().position(|name| name == server);
        known.unwrap_or_else(|| {
            self.servers.push(server.to_owned());
            self.servers.len() - 1
        }) as u16
    }

    /// `host:port` of a server.
    pub fn address(&self, server: usize) -> &str {
        &self.servers[server]
    }

    /// The servers that have slots, by number.
    pub fn owners(&self) -> Vec<usize> {
        let mut owners: Vec<usize> = self
            .owners
            .iter()
            .map(|owner| usize::from(*owner))
            .collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    /// Servers heard of, owners or not.
    pub fn addresses(&self) -> &[String] {
        &self.servers
    }
}

/// What one element of the answer to `CLUSTER SLOTS` says.
struct Range {
    slots: RangeInclusive<usize>,
    owner: String,
    replicas: Vec<String>,
}

fn parse_range(range: &Tree, asked: &str) -> Option<Range> {
    let Tree::Array(parts) = range else {
        return None;
    };
    let [
        Tree::Integer(first),
        Tree::Integer(last),
        owner,
        replicas @ ..,
    ] = parts.as_slice()
    else {
        return None;
    };
    let (first, last) = (usize::try_from(*first).ok()?, usize::try_from(*last).ok()?);
    if first > last || last >= SLOTS {
        return None;
    }
    Some(Range {
        slots: first..=last,
        owner: parse_server(owner, asked)?,
        replicas: replicas
            .iter()
            .map(|replica| parse_server(replica, asked))
            .collect::<Option<_>>()?,
    })
}

fn parse_server(server: &Tree, asked: &str) -> Option<String> {
    let Tree::Array(parts) = server else {
        return None;
    };
    let [host, Tree::Integer(port), ..] = parts.as_slice() else {
        return None;
    };
    let host = match host {
        Tree::Text(host) if !host.is_empty() && host != "?" => host.as_str(),
        _ => asked,
    };
    Some(format!("{host}:{port}"))
}

/// Where a redirection points to.
#[derive(Debug, PartialEq, Eq)]
pub enum Redirection {
    /// The slot lives there now.
    Moved(u16, String),
    /// This once, ask there.
    Ask(String),
}

/// Read an error reply as a redirection, if it is one. `asked` is the host that answered.
pub fn redirection(error: &[u8], asked: &str) -> Option<Redirection> {
    let text = std::str::from_utf8(error).ok()?.trim_end();
    let mut words = text.strip_prefix('-')?.split(' ');
    let kind = words.next()?;
    let slot = words
        .next()?
        .parse()
        .ok()
        .filter(|slot| usize::from(*slot) < SLOTS)?;
    let address = words.next()?;
    let address = if address.starts_with(':') {
        format!("{asked}{address}")
    } else {
        address.to_owned()
    };
    match kind {
        "MOVED" => Some(Redirection::Moved(slot, address)),
        "ASK" => Some(Redirection::Ask(address)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::redis::resp::tree;

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(slot(b"foo"), 12182);
        assert_eq!(slot(b"{user1000}.following"), slot(b"user1000"));
        assert_eq!(slot(b"foo{}{bar}"), crc16(b"foo{}{bar}") % 16384);
        assert_eq!(slot(b"foo{{bar}}zap"), slot(b"{bar"));
    }

    #[test]
    fn a_map_is_learned_from_a_servers_answer() {
        let answer = b"*2\r\n*3\r\n:0\r\n:8191\r\n*3\r\n$8\r\n10.0.0.1\r\n:6379\r\n$2\r\nid\r\n\
            *3\r\n:8192\r\n:16383\r\n*3\r\n$0\r\n\r\n:6380\r\n$2\r\nxx\r\n";
        let mut map = Map::single("10.0.0.9:6379", &[]);
        assert!(map.learn(&tree(answer, 0).unwrap().0, "10.0.0.9"));
        assert_eq!(map.address(map.owner(0)), "10.0.0.1:6379");
        assert_eq!(map.address(map.owner(8192)), "10.0.0.9:6380");
        assert_eq!(map.owners().len(), 2);
        assert!(
            !map.learn(&Tree::Array(Vec::new()), "10.0.0.9"),
            "nobody has a slot yet"
        );
        let half = b"*2\r\n*3\r\n:0\r\n:8191\r\n*2\r\n$1\r\nh\r\n:1\r\n*1\r\n:8192\r\n";
        assert!(!map.learn(&tree(half, 0).unwrap().0, "10.0.0.9"));
        assert_eq!(map.address(map.owner(0)), "10.0.0.1:6379", "all or nothing");
    }

    #[test]
    fn replicas_are_read_from_in_turns() {
        let replicas = ["10.0.0.2:1".to_owned(), "10.0.0.3:1".to_owned()];
        let map = Map::single("10.0.0.1:1", &replicas);
        let read = |turn| map.replica(0, turn).map(|server| map.address(server));
        assert_eq!(read(0), Some("10.0.0.2:1"));
        assert_eq!(read(1), Some("10.0.0.3:1"));
        assert_eq!(read(2), Some("10.0.0.2:1"));
        assert_eq!(map.owners(), [0], "a replica owns nothing");
        assert_eq!(Map::single("10.0.0.1:1", &[]).replica(0, 0), None);
    }

    #[test]
    fn the_replicas_of_a_cluster_are_those_of_the_last_answer() {
        let mut map = Map::single("10.0.0.1:6379", &["10.0.0.9:6379".to_owned()]);
        let answer = b"*1\r\n*4\r\n:0\r\n:16383\r\n*3\r\n$8\r\n10.0.0.1\r\n:6379\r\n$1\r\na\r\n\
            *4\r\n$8\r\n10.0.0.2\r\n:6379\r\n$1\r\nb\r\n*0\r\n";
        assert!(map.learn(&tree(answer, 0).unwrap().0, "10.0.0.1"));
        let read = |map: &Map| {
            map.replica(map.owner(7), 3)
                .map(|server| map.address(server).to_owned())
        };
        assert_eq!(read(&map), Some("10.0.0.2:6379".to_owned()));
        let alone = b"*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$8\r\n10.0.0.2\r\n:6379\r\n$1\r\nb\r\n";
        assert!(map.learn(&tree(alone, 0).unwrap().0, "10.0.0.2"));
        assert_eq!(read(&map), None);
    }

    #[test]
    fn redirections_are_told_from_other_errors() {
        let moved = redirection(b"-MOVED 3999 10.0.0.1:6381\r\n", "h");
        assert_eq!(
            moved,
            Some(Redirection::Moved(3999, "10.0.0.1:6381".to_owned()))
        );
        let ask = redirection(b"-ASK 3999 :6381\r\n", "10.0.0.7");
        assert_eq!(ask, Some(Redirection::Ask("10.0.0.7:6381".to_owned())));
        assert_eq!(redirection(b"-ERR unknown command\r\n", "h"), None);
    }
}
