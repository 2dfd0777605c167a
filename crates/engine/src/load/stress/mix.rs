//! Which kinds of operations are made, and how many of one kind in a row.

use super::Kind;
use super::distribution::{Distribution, Draws};
use super::random::JavaRandom;

/// Kinds of operations by weight.
#[derive(Debug, Clone, PartialEq)]
pub struct Mix {
    /// The kinds; weights are relative to one another.
    pub weights: Vec<(Kind, f64)>,
    /// How many operations of the kind that was chosen a client makes before it chooses again.
    pub clustering: Distribution,
}

impl Mix {
    /// Whether kinds can be chosen; the error is one sentence.
    pub fn check(&self) -> Result<(), String> {
        let usable = |weight: f64| weight >= 0.0 && weight.is_finite();
        let sum: f64 = self.weights.iter().map(|(_, weight)| weight).sum();
        if !self.weights.iter().all(|(_, weight)| usable(*weight)) || sum <= 0.0 {
            return Err("weights must not be negative, and one must be above zero".to_owned());
        }
        if self.clustering.min() < 0 || self.clustering.max() < 1 {
            return Err(format!(
                "no operations come in clusters of `{}`; it must be from 0 to at least 1",
                self.clustering
            ));
        }
        Ok(())
    }
}

/// The kinds of one client's operations, one after another.
pub struct Kinds {
    weights: Vec<(Kind, f64)>,
    sum: f64,
    clustering: Draws,
    kind: Kind,
    left: i64,
}

impl Kinds {
    /// Of a mix that was checked.
    pub fn new(mix: &Mix) -> Self {
        Self {
            weights: mix.weights.clone(),
            sum: mix.weights.iter().map(|(_, weight)| weight).sum(),
            clustering: Draws::new(mix.clustering.clone()),
            kind: mix.weights[0].0,
            left: 0,
        }
    }

    /// The kind of the next operation, by the random numbers of the client.
    pub fn draw(&mut self, random: &mut JavaRandom) -> Kind {
        while self.left == 0 {
            self.left = self.clustering.draw(random);
            self.kind = self.choose(random.next_double());
        }
        self.left -= 1;
        self.kind
    }

    /// The kind at a share of all weights.
    fn choose(&self, share: f64) -> Kind {
        let mut place = share * self.sum;
        let mut chosen = self.kind;
        for (kind, weight) in self.weights.iter().filter(|(_, weight)| *weight > 0.0) {
            chosen = *kind;
            place -= weight;
            if place < 0.0 {
                break;
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(weights: &[(Kind, f64)], clustering: &str) -> Mix {
        Mix {
            weights: weights.to_vec(),
            clustering: clustering.parse().unwrap(),
        }
    }

    fn drawn(mix: &Mix, count: usize) -> Vec<Kind> {
        let mut kinds = Kinds::new(mix);
        let mut random = JavaRandom::new(3);
        (0..count).map(|_| kinds.draw(&mut random)).collect()
    }

    #[test]
    fn weights_are_shares_of_their_sum() {
        let weights = [
            (Kind::Read, 6.0),
            (Kind::Write, 2.0),
            (Kind::CounterRead, 0.0),
        ];
        let kinds = drawn(&mix(&weights, "fixed(1)"), 100_000);
        let reads = kinds.iter().filter(|kind| **kind == Kind::Read).count();
        let writes = kinds.iter().filter(|kind| **kind == Kind::Write).count();
        assert_eq!(reads + writes, kinds.len());
        assert!((74_000..76_000).contains(&reads), "{reads}");
    }

    #[test]
    fn the_chosen_kind_is_made_as_often_as_the_cluster_says() {
        let kinds = drawn(
            &mix(&[(Kind::Read, 1.0), (Kind::Write, 1.0)], "fixed(7)"),
            7_000,
        );
        let clusters: Vec<Kind> = kinds.chunks(7).map(|cluster| cluster[0]).collect();
        assert!(
            kinds
                .chunks(7)
                .all(|cluster| cluster.iter().all(|kind| *kind == cluster[0]))
        );
        let reads = clusters.iter().filter(|kind| **kind == Kind::Read).count();
        assert!((400..600).contains(&reads), "{reads} of 1000");
    }

    #[test]
    fn a_cluster_of_none_is_chosen_again() {
        let kinds = drawn(
            &mix(&[(Kind::Read, 1.0), (Kind::Write, 1.0)], "uniform(0..1)"),
            100,
        );
        assert!(kinds.contains(&Kind::Read) && kinds.contains(&Kind::Write));
    }

    #[test]
    fn the_last_kind_with_a_weight_takes_what_rounding_leaves() {
        let kinds = Kinds::new(&mix(&[(Kind::Write, 1.0), (Kind::Read, 0.0)], "fixed(1)"));
        assert_eq!(kinds.choose(1.0), Kind::Write);
    }

    #[test]
    fn what_chooses_nothing_is_refused() {
        assert_eq!(mix(&[(Kind::Read, 1.0)], "gaussian(1..10)").check(), Ok(()));
        let refused = |weights: &[(Kind, f64)], clustering: &str| {
            mix(weights, clustering).check().unwrap_err()
        };
        assert!(refused(&[], "fixed(1)").contains("above zero"));
        assert!(refused(&[(Kind::Read, 0.0)], "fixed(1)").contains("above zero"));
        let negative = [(Kind::Read, 2.0), (Kind::Write, -1.0)];
        assert!(refused(&negative, "fixed(1)").contains("not be negative"));
        assert!(refused(&[(Kind::Read, 1.0)], "fixed(0)").contains("`fixed(0)`"));
        assert!(refused(&[(Kind::Read, 1.0)], "uniform(-1..5)").contains("from 0"));
    }
}
