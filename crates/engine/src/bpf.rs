//! Small programs that the kernel runs for us (BPF), made without a compiler.
//!
//! Their instructions are put together by [`assembly`], the places of fields are read from what the
//! kernel tells of its own types ([`types`]), and [`calls`] hands both over. Libraries such as `aya`
//! load what a compiler for BPF made; a few dozen instructions need none.
//!
//! The reader of types is our own because three lookups by name are all that is asked: a dependency
//! of the engine would cost more to keep than this one file. The kernel judges what was read: at a
//! wrong place it refuses the program, or time counts for a network that is nobody's, and the live
//! tests see that.

pub mod assembly;
pub mod calls;
pub mod types;
