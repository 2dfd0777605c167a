//! Whether what reads found is what was written.

use wire::load::{LoadPlan, Workload};

use super::core::integrity::Integrity;
use super::stress;
use super::work::Operation;
use crate::drive::Failure;
use crate::drive::found::Found;

/// Judges what reads found, by the workload.
pub enum Judge {
    /// YCSB's `dataintegrity`.
    Ycsb(Integrity),
    /// Rows of cassandra-stress.
    Stress(stress::judge::Judge),
}

impl Judge {
    /// None where nothing is compared; the error is one sentence.
    pub fn of(plan: &LoadPlan) -> Result<Option<Self>, String> {
        Ok(match &plan.workload {
            Workload::Ycsb(workload) => Integrity::of(workload).map(Self::Ycsb),
            Workload::Stress(workload) if workload.validate => {
                let workload = stress::Workload::of(workload, plan.part.of)?;
                Some(Self::Stress(stress::judge::Judge::of(&workload.layout)))
            }
            Workload::Stress(_) => None,
        })
    }

    /// Whether what an operation found is what was written; None where it is not compared.
    pub fn judge(&self, operation: &Operation, found: &Found) -> Option<Result<(), Failure>> {
        match (self, operation) {
            (Self::Ycsb(integrity), Operation::Ycsb(operation)) => {
                let compared = operation.kind.reads_one();
                compared.then(|| integrity.judge(operation, found))
            }
            (Self::Stress(judge), Operation::Stress(operation)) => {
                let compared = operation.kind == stress::Kind::Read;
                compared.then(|| judge.judge(operation.seed, found))
            }
            _ => None,
        }
    }
}
