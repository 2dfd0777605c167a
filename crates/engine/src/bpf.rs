//! Small programs that the kernel runs for us (BPF), made without a compiler.
//!
//! Their instructions are put together by [`assembly`], the places of fields are read from what the
//! kernel tells of its own types ([`types`]), and [`calls`] hands both over. Libraries such as `aya`
//! load what a compiler for BPF made; a few dozen instructions need none.

pub mod assembly;
pub mod calls;
pub mod types;
