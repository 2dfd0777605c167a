//! What one logical thread does until the load is over.

use std::rc::Rc;
use std::time::Duration;

use super::clock::Deadline;
use super::mix::Operation;
use super::record::Outcome;
use super::run::Run;
use crate::drive::{Failure, Fault, Session};

/// Pauses after connections that failed one after another, doubled up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// One logical thread: a session, and one operation at a time.
pub struct Worker {
    run: Rc<Run>,
    session: Session,
    deadline: Deadline,
    pause: Duration,
}

impl Worker {
    /// A thread of `run` that works with `session`.
    pub fn new(run: Rc<Run>, session: Session) -> Self {
        Self {
            run,
            session,
            deadline: Deadline::new(),
            pause: FIRST_PAUSE,
        }
    }

    /// Work until there is nothing more to do.
    pub async fn work(mut self) {
        if self.run.open() {
            self.keep_schedule().await;
        } else {
            while let Some(operation) = self.run.next() {
                self.attempt(&operation, None).await;
            }
        }
    }

    /// Take the next slot, wait for it, carry it out. A slot whose time has passed is taken all the
    /// same: none is skipped.
    async fn keep_schedule(&mut self) {
        while let Some(intended) = self.run.next_slot() {
            self.run.alarm.until(intended).await;
            let Some(operation) = self.run.draw_for(intended) else {
                break;
            };
            self.attempt(&operation, Some(intended)).await;
        }
    }

    async fn attempt(&mut self, operation: &Operation, intended: Option<u64>) {
        let run = &self.run;
        let started = run.clock.now();
        let due = run.clock.instant(run.due(started));
        let outcome = self
            .deadline
            .limit(due, self.session.perform(operation))
            .await
            .unwrap_or_else(|| Err(Failure::new(Fault::Timeout, "no answer in time")));
        let ended = run.clock.now();
        let failure = outcome.as_ref().err();
        let kind = operation.kind;
        run.over(
            operation,
            &Outcome {
                kind,
                intended,
                started,
                ended,
                failure,
            },
        );
        self.recover(failure.map(|failure| failure.fault)).await;
    }

    /// After a broken connection the next operation makes a new one; while none can be made,
    /// operations go on failing, but not faster than after a short pause each.
    async fn recover(&mut self, fault: Option<Fault>) {
        if fault.is_some_and(Fault::breaks_connection) {
            self.session.disconnect();
        }
        if fault == Some(Fault::Connection) {
            tokio::time::sleep(self.pause).await;
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        } else {
            self.pause = FIRST_PAUSE;
        }
    }
}
