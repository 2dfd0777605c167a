//! What one logical thread does until the load is over.

use std::rc::Rc;
use std::time::Duration;

use wire::load::{Level, LoadPlan, Phase, Policy};

use super::clock::Deadline;
use super::record::Outcome;
use super::run::Run;
use super::work::{Client, Operation};
use crate::drive::found::Found;
use crate::drive::{Failure, Fault, Session};

/// Pauses after connections that failed or made no sense one after another, doubled up to the
/// longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Whether the policy of a plan can be followed; the error says what stands against it.
pub fn check(plan: &LoadPlan) -> Result<(), String> {
    let what = match (plan.policy, plan.level, plan.phase) {
        (Policy::Drop, Level::Threads { .. }, _) => {
            "the policy `drop` needs an open load; `threads` wait for their answers"
        }
        (Policy::Drop, _, Phase::Load) => {
            "the policy `drop` would leave records of a load phase out; use `queue`"
        }
        _ => return Ok(()),
    };
    Err(what.to_owned())
}

/// One logical thread: a session, and one operation at a time.
pub struct Worker {
    run: Rc<Run>,
    session: Session,
    client: Client,
    found: Found,
    deadline: Deadline,
    pause: Duration,
}

impl Worker {
    /// A thread of `run` that works with `session`; in a closed loop it is a virtual client.
    pub fn new(run: Rc<Run>, session: Session, client: Client) -> Self {
        Self {
            found: Found::new(run.compares()),
            run,
            session,
            client,
            deadline: Deadline::new(),
            pause: FIRST_PAUSE,
        }
    }

    /// Work until there is nothing more to do.
    pub async fn work(mut self) {
        if self.run.open() {
            self.keep_schedule().await;
        } else {
            while let Some(operation) = self.run.next(&mut self.client) {
                self.attempt(&operation, None).await;
            }
        }
    }

    /// Take the next slot, wait for it, carry it out. A slot whose time has passed is taken all the
    /// same, unless the policy is to drop it: none is skipped without being counted.
    async fn keep_schedule(&mut self) {
        let mut free = 0;
        while let Some(slot) = self.run.next_slot(free) {
            if !self.run.alarm.until(slot.intended).await {
                self.run.give_up(&slot);
                break;
            }
            let Some(operation) = self.run.operation(&slot) else {
                break;
            };
            self.attempt(&operation, Some(slot.intended)).await;
            free = self.run.clock.now();
        }
    }

    async fn attempt(&mut self, operation: &Operation, intended: Option<u64>) {
        let run = &self.run;
        let started = run.clock.now();
        let due = run.clock.instant(run.due(started));
        self.found.clear();
        let mut outcome = self
            .deadline
            .limit(due, self.session.perform(operation, &mut self.found))
            .await
            .unwrap_or_else(|| Err(Failure::new(Fault::Timeout, "no answer in time")));
        let ended = run.clock.now();
        let mut compared = false;
        if outcome.is_ok()
            && let Some(judgement) = run.judge(operation, &self.found)
        {
            compared = true;
            outcome = judgement;
        }
        let failure = outcome.as_ref().err();
        let kind = operation.kind();
        run.over(
            operation,
            &Outcome {
                kind,
                intended,
                started,
                ended,
                failure,
                compared,
            },
        );
        self.recover(failure.map(|failure| failure.fault)).await;
    }

    /// After a broken connection the next operation makes a new one; while none can be made, or none
    /// makes sense, operations go on failing, but not faster than after a short pause each.
    async fn recover(&mut self, fault: Option<Fault>) {
        if fault.is_some_and(Fault::breaks_connection) {
            self.session.disconnect();
        }
        if matches!(fault, Some(Fault::Connection | Fault::Protocol)) {
            tokio::time::sleep(self.pause).await;
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        } else {
            self.pause = FIRST_PAUSE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::plan::tests::plan;
    use wire::load::Arrivals;

    #[test]
    fn only_a_run_phase_of_an_open_load_may_drop() {
        let mut plan = plan();
        assert_eq!(check(&plan), Ok(()));
        plan.policy = Policy::Drop;
        let refused = check(&plan).unwrap_err();
        assert!(refused.contains("needs an open load"), "{refused}");
        plan.level = Level::Rate {
            rate: 1.0,
            connections: 1,
            arrivals: Arrivals::Constant,
        };
        assert_eq!(check(&plan), Ok(()));
        plan.phase = Phase::Load;
        let refused = check(&plan).unwrap_err();
        assert!(refused.contains("leave records"), "{refused}");
        plan.policy = Policy::Queue;
        assert_eq!(check(&plan), Ok(()));
    }
}
