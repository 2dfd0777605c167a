//! The highest rate that meets an objective.
