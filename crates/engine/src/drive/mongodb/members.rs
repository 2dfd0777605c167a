//! Which member gets an operation.

use std::collections::BTreeSet;
use std::time::Duration;

use super::hello::Hello;
use super::settings::Preference;

/// Members that answer so much later than the nearest one are near too: what MongoDB's own drivers
/// take by default.
const NEAR: Duration = Duration::from_millis(15);

/// A member of a replica set that told what it is.
#[derive(Debug, Clone)]
pub struct Told {
    /// `host:port` as the set advertises it.
    pub address: String,
    /// What it said.
    pub hello: Hello,
    /// How long it took to answer, where that is of interest.
    pub delay: Duration,
}

/// The members, numbered in the order in which they were first heard of, and who gets what.
pub struct Members {
    addresses: Vec<String>,
    writers: Vec<usize>,
    readers: Vec<usize>,
}

impl Members {
    /// All of them get everything.
    pub fn alike(addresses: &[String]) -> Self {
        let all: Vec<usize> = (0..addresses.len()).collect();
        Self {
            addresses: addresses.to_vec(),
            writers: all.clone(),
            readers: all,
        }
    }

    /// Those of a replica set that has not been asked yet.
    pub fn unknown(addresses: &[String]) -> Self {
        Self {
            addresses: addresses.to_vec(),
            writers: Vec::new(),
            readers: Vec::new(),
        }
    }

    /// Take over what the members of a replica set said.
    pub fn learn(&mut self, told: &[Told], preference: Preference) {
        let primary: Vec<&Told> = primary(told).into_iter().collect();
        let secondaries: Vec<&Told> = told.iter().filter(|one| one.hello.secondary).collect();
        let readers = match preference {
            Preference::Primary => primary.clone(),
            Preference::PrimaryPreferred => or(primary.clone(), secondaries),
            Preference::Secondary => secondaries,
            Preference::SecondaryPreferred => or(secondaries, primary.clone()),
            Preference::Nearest => near([primary.clone(), secondaries].concat()),
        };
        self.writers = self.numbers(&primary);
        self.readers = self.numbers(&readers);
    }

    /// Who takes the write that comes `turn`-th; None where there is nobody.
    pub fn writer(&self, turn: usize) -> Option<usize> {
        in_turns(&self.writers, turn)
    }

    /// Who takes the read that comes `turn`-th; None where there is nobody.
    pub fn reader(&self, turn: usize) -> Option<usize> {
        in_turns(&self.readers, turn)
    }

    /// Everybody that takes anything.
    pub fn wanted(&self) -> BTreeSet<usize> {
        self.writers.iter().chain(&self.readers).copied().collect()
    }

    /// `host:port` of a member.
    pub fn address(&self, number: usize) -> &str {
        &self.addresses[number]
    }

    /// All that were heard of, whether they take anything or not.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    fn numbers(&mut self, members: &[&Told]) -> Vec<usize> {
        let mut numbers: Vec<usize> = members
            .iter()
            .map(|member| self.number(&member.address))
            .collect();
        numbers.sort_unstable();
        numbers
    }

    fn number(&mut self, address: &str) -> usize {
        let known = self.addresses.iter().position(|name| name == address);
        known.unwrap_or_else(|| {
            self.addresses.push(address.to_owned());
            self.addresses.len() - 1
        })
    }
}

/// The primary: of two that say so, that of the later election, for the other has not heard of it.
pub fn primary(told: &[Told]) -> Option<&Told> {
    told.iter()
        .filter(|one| one.hello.primary)
        .max_by(|one, other| one.hello.election.cmp(&other.hello.election))
}

fn or<'a>(preferred: Vec<&'a Told>, others: Vec<&'a Told>) -> Vec<&'a Told> {
    if preferred.is_empty() {
        others
    } else {
        preferred
    }
}

fn near(mut members: Vec<&Told>) -> Vec<&Told> {
    let nearest = members.iter().map(|member| member.delay).min();
    let limit = nearest.unwrap_or_default() + NEAR;
    members.retain(|member| member.delay <= limit);
    members
}

fn in_turns(members: &[usize], turn: usize) -> Option<usize> {
    members.get(turn.checked_rem(members.len())?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(address: &str, role: &str, delay: u64) -> Told {
        Told {
            address: address.to_owned(),
            hello: Hello {
                primary: role == "primary",
                secondary: role == "secondary",
                ..Hello::default()
            },
            delay: Duration::from_millis(delay),
        }
    }

    fn set() -> Vec<Told> {
        vec![
            told("a:1", "primary", 20),
            told("b:1", "secondary", 1),
            told("c:1", "secondary", 16),
            told("d:1", "recovering", 1),
        ]
    }

    /// Addresses that take four reads one after another.
    fn read_from(told: &[Told], preference: Preference) -> Vec<String> {
        let mut members = Members::unknown(&["b:1".to_owned()]);
        members.learn(told, preference);
        (0..4)
            .filter_map(|turn| members.reader(turn))
            .map(|number| members.address(number).to_owned())
            .collect()
    }

    #[test]
    fn reads_go_where_the_preference_says() {
        let all = set();
        let reads = |preference| read_from(&all, preference);
        assert_eq!(reads(Preference::Primary), ["a:1"; 4]);
        assert_eq!(reads(Preference::PrimaryPreferred), ["a:1"; 4]);
        for preference in [Preference::Secondary, Preference::SecondaryPreferred] {
            assert_eq!(reads(preference), ["b:1", "c:1", "b:1", "c:1"]);
        }
        assert_eq!(reads(Preference::Nearest), ["b:1", "c:1", "b:1", "c:1"]);
    }

    #[test]
    fn others_take_the_place_of_those_that_are_not_there_only_if_they_may() {
        let headless = &set()[1..];
        let reads = |preference| read_from(headless, preference);
        assert!(reads(Preference::Primary).is_empty());
        assert_eq!(reads(Preference::PrimaryPreferred)[..2], ["b:1", "c:1"]);
        let alone = &set()[..1];
        let reads = |preference| read_from(alone, preference);
        assert!(reads(Preference::Secondary).is_empty());
        assert_eq!(reads(Preference::SecondaryPreferred), ["a:1"; 4]);
        assert_eq!(reads(Preference::Nearest), ["a:1"; 4]);
        assert!(read_from(&[], Preference::Nearest).is_empty());
    }

    #[test]
    fn writes_go_to_the_primary_of_the_latest_election() {
        let mut all = set();
        all[1].hello.primary = true;
        all[0].hello.election = vec![0, 2];
        all[1].hello.election = vec![0, 1];
        let mut members = Members::unknown(&["b:1".to_owned()]);
        assert_eq!((members.writer(0), members.reader(0)), (None, None));
        members.learn(&all, Preference::Primary);
        assert_eq!(members.address(members.writer(7).unwrap()), "a:1");
        all[1].hello.election = vec![1, 0];
        members.learn(&all, Preference::Primary);
        assert_eq!(members.address(members.writer(7).unwrap()), "b:1");
        assert_eq!(members.addresses(), ["b:1", "a:1"]);
        members.learn(&[], Preference::Primary);
        assert_eq!(members.writer(0), None);
    }

    #[test]
    fn routers_are_taken_in_turns() {
        let members = Members::alike(&["a:1".to_owned(), "b:1".to_owned()]);
        let numbers: Vec<_> = (0..4).map(|turn| members.writer(turn)).collect();
        assert_eq!(numbers, [Some(0), Some(1), Some(0), Some(1)]);
        assert_eq!(members.reader(usize::MAX), Some(1));
        assert_eq!(members.wanted(), BTreeSet::from([0, 1]));
    }
}
