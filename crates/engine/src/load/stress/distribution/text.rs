//! How distributions are written.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::{Distribution, LARGEST, Shape, Weibull, offset};

/// What can be written.
const FORMS: &str = "`fixed(34)`, `uniform(1..100)`, `gaussian(1..100)`, `gaussian(1..100,stdvrng)`, \
     `gaussian(1..100,mean,stdev)`, `exp(1..100)`, `extreme(1..100,shape)`, \
     `qextreme(1..100,shape,quantas)` or `seq(1..100)`, with `~` before it for the opposite";

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (inverted, named) = text
            .strip_prefix('~')
            .map_or((false, text), |named| (true, named));
        let read = named
            .strip_suffix(')')
            .and_then(|open| open.split_once('('))
            .ok_or_else(|| format!("write one of {FORMS}"))
            .and_then(|(name, arguments)| one_of(&name.to_ascii_lowercase(), arguments));
        let mut distribution = read.map_err(|what| format!("`{text}`: {what}"))?;
        distribution.inverted = inverted && distribution.shape != Shape::Fixed;
        Ok(distribution)
    }
}

fn one_of(name: &str, arguments: &str) -> Result<Distribution, String> {
    let (first, rest) = arguments
        .split_once(',')
        .map_or((arguments, Vec::new()), |(first, rest)| {
            (first, rest.split(',').collect())
        });
    let bounds = || range(first);
    // Nothing of an unbounded distribution fits between two numbers that follow one another.
    let wide = || match range(first)? {
        (min, max) if max - min == 1 => Err(format!("write `uniform({min}..{max})`")),
        wide => Ok(wide),
    };
    let ((min, max), shape) = match (name, rest.as_slice()) {
        ("fixed", []) => return number(first).map(Distribution::fixed),
        ("uniform", []) => (bounds()?, Shape::Uniform),
        ("gaussian" | "gauss" | "normal" | "norm", []) => gaussian(bounds()?, 3.0),
        ("gaussian" | "gauss" | "normal" | "norm", [edge]) => gaussian(bounds()?, positive(edge)?),
        ("gaussian" | "gauss" | "normal" | "norm", [mean, deviation]) => {
            let (mean, deviation) = (real(mean)?, positive(deviation)?);
            (bounds()?, Shape::Gaussian { mean, deviation })
        }
        ("exp", []) => exponential_over(wide()?),
        ("extr" | "extreme", [shape]) => extreme(wide()?, positive(shape)?),
        ("qextr" | "qextreme", [shape, quantas]) => {
            quantized(wide()?, positive(shape)?, parts(quantas)?)
        }
        ("seq", []) => (bounds()?, Shape::Sequence),
        ("weibull", _) => return Err("write `extreme` for `weibull`".to_owned()),
        _ => return Err(format!("write one of {FORMS}")),
    };
    if min == max {
        return Ok(Distribution::fixed(min));
    }
    Ok(Distribution {
        min,
        max,
        shape,
        inverted: false,
    })
}

type Shaped = ((i64, i64), Shape);

/// `edge` is how many deviations either end of the range is away from the middle.
fn gaussian((min, max): (i64, i64), edge: f64) -> Shaped {
    let mean = (min + max) as f64 / 2.0;
    let deviation = (max - min) as f64 / 2.0 / edge;
    ((min, max), Shape::Gaussian { mean, deviation })
}

fn exponential_over((min, max): (i64, i64)) -> Shaped {
    let mean = (max - min) as f64 / -(1.0 - reached(max - min)).ln();
    ((min, max), Shape::Exponential { mean })
}

fn extreme((min, max): (i64, i64), shape: f64) -> Shaped {
    ((min, max), Shape::Extreme(weibull(min, max, shape)))
}

fn quantized((min, max): (i64, i64), shape: f64, parts: u32) -> Shaped {
    let extreme = weibull(min, max, shape);
    let edge = |part: u32| extreme.below(f64::from(part) / f64::from(parts));
    let inner = (1..parts).map(|part| offset(min, max, edge(part)));
    let edges = [min].into_iter().chain(inner).chain([max + 1]).collect();
    ((min, max), Shape::Quantized { extreme, edges })
}

fn weibull(min: i64, max: i64, shape: f64) -> Weibull {
    let one = Weibull { shape, scale: 1.0 };
    let scale = (max - min) as f64 / one.below(reached(max - min));
    Weibull { shape, scale }
}

/// The share of an unbounded distribution that fits into a range of this width.
fn reached(width: i64) -> f64 {
    1.0 - (1.0 / width as f64).sqrt()
}

/// Most parts of a quantized distribution.
const MOST_PARTS: u32 = 1_000_000;

/// A number as cassandra-stress writes it: `1k`, `1m` and `1b` are thousands, millions and thousand
/// millions. The error is one sentence.
pub fn number(text: &str) -> Result<i64, String> {
    let small = text.to_ascii_lowercase();
    let (digits, unit) = [('k', 1_000), ('m', 1_000_000), ('b', 1_000_000_000)]
        .into_iter()
        .find_map(|(letter, unit)| Some((small.strip_suffix(letter)?, unit)))
        .unwrap_or((&small, 1));
    digits
        .parse::<i64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .filter(|number| (-LARGEST..=LARGEST).contains(number))
        .ok_or_else(|| {
            format!("`{text}` is no whole number; write one such as `1000`, `1k` or `1m`")
        })
}

/// Two numbers with at least two dots between them, the smaller one first. The error is one
/// sentence.
pub fn range(text: &str) -> Result<(i64, i64), String> {
    let (min, max) = text
        .split_once("..")
        .ok_or_else(|| format!("`{text}` is no range; write one such as `1..100`"))?;
    let (min, max) = (number(min)?, number(max.trim_start_matches('.'))?);
    if min > max {
        return Err(format!(
            "`{text}` ends before it begins; write `{max}..{min}`"
        ));
    }
    Ok((min, max))
}

fn real(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| format!("`{text}` is no number; write one such as `2.5`"))
}

fn positive(text: &str) -> Result<f64, String> {
    real(text).and_then(|number| {
        if number > 0.0 {
            Ok(number)
        } else {
            Err(format!("`{text}` must be above zero"))
        }
    })
}

fn parts(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|parts: &u32| (1..=MOST_PARTS).contains(parts))
        .ok_or_else(|| format!("`{text}` is no number of quantas from 1 to {MOST_PARTS}"))
}

impl Display for Distribution {
    /// As it is read again.
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let (min, max) = (self.min, self.max);
        if self.inverted {
            to.write_str("~")?;
        }
        match &self.shape {
            Shape::Fixed => write!(to, "fixed({min})"),
            Shape::Uniform => write!(to, "uniform({min}..{max})"),
            Shape::Gaussian { mean, deviation } => {
                write!(to, "gaussian({min}..{max},{mean},{deviation})")
            }
            Shape::Exponential { .. } => write!(to, "exp({min}..{max})"),
            Shape::Extreme(Weibull { shape, .. }) => write!(to, "extreme({min}..{max},{shape})"),
            Shape::Quantized { extreme, edges } => {
                let (shape, parts) = (extreme.shape, edges.len() - 1);
                write!(to, "qextreme({min}..{max},{shape},{parts})")
            }
            Shape::Sequence => write!(to, "seq({min}..{max})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::written;
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Distribution {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_of_one_number_is_that_number() {
        let one = Distribution::fixed(4);
        for text in [
            "uniform(4..4)",
            "exp(4..4)",
            "seq(4..4)",
            "gauss(4..4)",
            "qextr(4..4,1,3)",
        ] {
            assert_eq!(read(text), one, "{text}");
        }
    }

    #[test]
    fn units_and_dots_are_read_as_cassandra_stress_reads_them() {
        assert_eq!(number("12"), Ok(12));
        assert_eq!(number("3K"), Ok(3_000));
        assert_eq!(number("2m"), Ok(2_000_000));
        assert_eq!(number("1B"), Ok(1_000_000_000));
        assert_eq!(range("1....5"), Ok((1, 5)));
        assert_eq!(range("-5..5k"), Ok((-5, 5_000)));
    }

    #[test]
    fn what_is_no_distribution_is_refused_with_what_to_write() {
        let refused = |text: &str| text.parse::<Distribution>().unwrap_err();
        for text in [
            "34",
            "fixed",
            "fixed()x",
            "FIXED(1,2)",
            "seq(1..10,50)",
            "zipf(1..10)",
            "exp(1..9,2)",
        ] {
            let error = refused(text);
            assert!(
                error.starts_with(&format!("`{text}`: write one of `fixed(34)`")),
                "{error}"
            );
        }
        assert_eq!(
            refused("weibull(1..5,2)"),
            "`weibull(1..5,2)`: write `extreme` for `weibull`"
        );
        assert!(refused("uniform(50)").contains("`50` is no range; write one such as `1..100`"));
        assert!(refused("uniform(9..1)").contains("write `1..9`"));
        assert!(refused("exp(1..2)").contains("write `uniform(1..2)`"));
        assert!(refused("fixed(1..10)").contains("`1..10` is no whole number"));
        assert!(refused("fixed(9999999999b)").contains("is no whole number"));
        assert!(refused("gaussian(1..9,0)").contains("`0` must be above zero"));
        assert!(refused("gaussian(1..9,nan,1)").contains("`nan` is no number"));
        assert!(refused("qextreme(1..9,2,0)").contains("`0` is no number of quantas"));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(text in written()) {
            let distribution = read(&text);
            prop_assert_eq!(read(&distribution.to_string()), distribution);
        }
    }
}
