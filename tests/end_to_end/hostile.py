"""What nobody should be able to do by a name or a text, and the command line to try it on."""

from __future__ import annotations

from dataclasses import dataclass

from in_process import said_here

HOSTILE = (
    "$(touch owned)",
    "`touch owned`",
    "; touch owned",
    "| tee owned",
    "../../owned",
    "/etc/owned",
    "..",
    "-rf",
    "<script>alert(1)</script>",
    "\\input{/etc/passwd}",
    "%s%n{0.__class__}",
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b2J",
    "\u202egnp.exe",
    "a\nb",
    "a\r\x08b",
    "[red]x[/red]",
    "x" * 5000,
    "",
    "nul\x00",
)


@dataclass(frozen=True)
class Shown:
    """Exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def harmless(self) -> bool:
        """Nothing in it steers a terminal or pretends to be a line of ours."""
        letters = set(self.out + self.err) - {"\n"}
        return all(letter.isprintable() for letter in letters)


def dunnage(*words: object) -> Shown:
    """Type a command into this process."""
    return Shown(*said_here(*words))
