//! Messages for whoever typed.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

/// Takes away what stands in the line of a terminal.
pub const CLEAR: &str = "\r\x1b[K";

/// Write one on standard error, in place of a status line that may stand there.
pub fn tell(text: &dyn Display) {
    let clear = if io::stderr().is_terminal() {
        CLEAR
    } else {
        ""
    };
    // That nobody reads it is no reason to stop.
    let _ = writeln!(io::stderr(), "{clear}dunnage-engine: {text}");
}
