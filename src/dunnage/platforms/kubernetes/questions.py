"""Questions that a script asks the tools of a host: an answer to each, or why not. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

UNKNOWN = "unknown"
"""How what could not be read begins."""

ASK = """\
count() {
    pattern=$1; shift
    listed=$("$@" 2>&1) || { printf '%s' "$listed"; return 1; }
    printf '%s\\n' "$listed" | grep -c -E -e "$pattern" || true
}
ask() {
    name=$1 tool=$2; shift 2
    command -v "$tool" >/dev/null || { echo "$name absent $tool"; return; }
    if answer=$("$@" 2>&1); then printf '%s found %s\\n' "$name" "$answer"
    else echo "$name failed $tool" $(printf %s "$answer" | head -n 1); fi
}
"""
"""Shell functions. `ask NAME TOOL COMMAND…` prints the answer that a command gives on one line, if
the host has the tool; `count PATTERN COMMAND…` is a command that counts lines of another one."""


@dataclass(frozen=True)
class Answer:
    """What one question was answered with."""

    text: str = ""
    unknown: str = ""
    """Why there is no answer; empty where there is one."""

    @property
    def count(self) -> int:
        """The number that was answered; 0 where there is no answer."""
        return int(self.text or 0)


def answers(printed: str) -> Mapping[str, Answer]:
    """Name → answer, of what `ask` printed. Raises ValueError for a line that it cannot print."""
    found = {}
    for line in printed.splitlines():
        name, state, about = [*line.split(maxsplit=2), ""][:3]
        if state == "found":
            found[name] = Answer(about)
        elif state == "absent":
            found[name] = Answer(unknown=f"this host has no {about}")
        else:
            tool, _, why = about.partition(" ")
            found[name] = Answer(unknown=f"{tool} fails: {why}")
    return found


def unknown(*unanswered: Answer) -> str:
    """Why something is not known, as a fact says it."""
    return f"{UNKNOWN}: {' and '.join(each.unknown for each in unanswered if each.unknown)}"
