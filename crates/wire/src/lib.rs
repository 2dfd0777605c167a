//! The border between the orchestration (Python) and the engine (Rust).
//!
//! Every type here is a file, a line of one, or a message; its JSON Schema is generated into `schema/` and
//! checked for drift. All times are seconds, all sizes bytes, unless a name says otherwise.

pub mod agent;
pub mod answer;
pub mod control;
pub mod inspection;
pub mod load;
pub mod samples;
pub mod turns;

use schemars::{Schema, schema_for};

/// Every schema of the border with the name of its file.
#[must_use]
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("engine-load.schema.json", schema_for!(load::LoadPlan)),
        ("engine-result.schema.json", schema_for!(load::LoadResult)),
        ("engine-summary.schema.json", schema_for!(load::Summary)),
        ("engine-watch.schema.json", schema_for!(samples::WatchPlan)),
        ("engine-samples.schema.json", schema_for!(samples::Line)),
        ("engine-ask.schema.json", schema_for!(agent::Ask)),
        ("engine-said.schema.json", schema_for!(agent::Said)),
        ("engine-answer.schema.json", schema_for!(answer::Answer)),
        ("engine-control.schema.json", schema_for!(control::Control)),
        ("engine-pause.schema.json", schema_for!(samples::PauseLine)),
        ("engine-turns.schema.json", schema_for!(turns::TurnsPlan)),
        ("engine-turn.schema.json", schema_for!(turns::Turn)),
        (
            "engine-inspection.schema.json",
            schema_for!(inspection::Inspection),
        ),
    ]
}
