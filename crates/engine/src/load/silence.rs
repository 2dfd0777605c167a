//! Whether a database stopped answering for good.

use super::record::Outcome;

/// Nanoseconds without an answer that are more than a pause.
const PAUSE: u64 = 1_000_000_000;

/// What is known so far; times in nanoseconds since the load began.
pub struct Silence {
    /// Most operations in flight.
    in_flight: u64,
    /// When the last answer came; zero if none did.
    answered: u64,
    /// Operations since then that had no answer.
    without: u64,
    /// When the last one of those was to start.
    asked: u64,
    /// When it was known of the last one.
    known: u64,
}

impl Silence {
    /// Before a load with at most so many operations in flight.
    pub fn new(in_flight: u64) -> Self {
        Self {
            in_flight,
            answered: 0,
            without: 0,
            asked: 0,
            known: 0,
        }
    }

    /// An operation is over.
    pub fn heed(&mut self, outcome: &Outcome<'_>) {
        match outcome.failure {
            Some(failure) if !failure.fault.is_answer() => {
                let asked = outcome.intended.unwrap_or(outcome.started);
                self.unanswered(asked, outcome.ended);
            }
            _ => self.answered(outcome.ended),
        }
    }

    /// An answer came, if only that something is wrong.
    fn answered(&mut self, at: u64) {
        *self = Self {
            answered: at,
            ..Self::new(self.in_flight)
        };
    }

    /// An operation that was to start at `asked` had no answer, which was known at `known`.
    pub fn unanswered(&mut self, asked: u64, known: u64) {
        self.without += 1;
        self.asked = self.asked.max(asked);
        self.known = self.known.max(known);
    }

    /// When the last answer came, if none came to anything that was asked after it for longer than a
    /// pause, or to as many operations as could be in flight. A single one that got lost is neither.
    pub fn since(&self) -> Option<u64> {
        let pause = self.answered + PAUSE;
        let all = self.without >= self.in_flight && self.known >= pause;
        (self.without > 0 && (self.asked >= pause || all)).then_some(self.answered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = PAUSE;

    /// Answered at five seconds, and then what was asked at and known at some seconds was not.
    fn since(in_flight: u64, unanswered: &[(u64, u64)]) -> Option<u64> {
        let mut silence = Silence::new(in_flight);
        silence.unanswered(0, 9 * SECOND);
        silence.answered(5 * SECOND);
        for (asked, known) in unanswered {
            silence.unanswered(asked * SECOND, known * SECOND);
        }
        silence.since()
    }

    #[test]
    fn a_database_that_answers_to_the_end_is_not_silent() {
        assert_eq!(since(2, &[]), None);
        assert_eq!(Silence::new(1).since(), None);
    }

    #[test]
    fn one_operation_that_got_lost_is_no_silence() {
        assert_eq!(since(2, &[(4, 14)]), None);
        assert_eq!(since(1, &[(4, 14)]), Some(5 * SECOND));
    }

    #[test]
    fn a_database_is_silent_that_answers_nothing_of_what_comes_later() {
        assert_eq!(since(64, &[(4, 14), (6, 16)]), Some(5 * SECOND));
        assert_eq!(since(2, &[(5, 15), (5, 15)]), Some(5 * SECOND));
        assert_eq!(since(2, &[(5, 5), (5, 5)]), None);
    }
}
