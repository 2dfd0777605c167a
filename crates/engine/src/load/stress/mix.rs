//! Which operation comes next: `ratio(…)` and `clustering=` of the command `mixed`.
