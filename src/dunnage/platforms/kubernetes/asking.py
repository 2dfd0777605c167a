"""What a script asks the tools of a host: an answer to each, or why there is none. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from dunnage.model.unknown import UNKNOWN, lacking

ASK = """\
count() {
    pattern=$1; shift
    listed=$("$@") || return
    printf '%s\\n' "$listed" | grep -c -E -e "$pattern" || true
}
ask() {
    name=$1 tool=$2; shift 2
    command -v "$tool" >/dev/null || { echo "$name absent $tool"; return; }
    if answer=$("$@" 2>/dev/null); then printf '%s found %s\\n' "$name" "$answer"
    else echo "$name failed $tool" $("$@" 2>&1 | head -n 1); fi
}
"""
"""Shell functions. `ask NAME TOOL COMMAND…` prints the answer that a command gives on one line, if
the host has the tool, and nothing of its warnings; one that fails is run again for its words.
`count PATTERN COMMAND…` is a command that counts lines of another one."""


@dataclass(frozen=True)
class Answer:
    """What one thing was answered with."""

    text: str = ""
    unknown: str = ""
    """Why there is no answer; empty where there is one."""

    @property
    def count(self) -> int:
        """The number that was answered; 0 where there is no answer. Raises ValueError for text."""
        return int(self.text or 0)


def answers(printed: str) -> Mapping[str, Answer]:
    """Name → answer, of what `ask` printed; of a name that it did not print, that nothing answers.

    Lines of other forms are of something else.
    """
    found: dict[str, Answer] = defaultdict(lambda: Answer(unknown="nothing answers"))
    for line in printed.splitlines():
        name, state, about = [*line.split(maxsplit=2), "", "", ""][:3]
        if state == "found":
            found[name] = Answer(about)
        elif state == "absent":
            found[name] = Answer(unknown=lacking(about))
        elif state == "failed":
            tool, _, why = about.partition(" ")
            found[name] = Answer(unknown=f"{tool} fails: {why}")
    return found


def unknown(*unanswered: Answer) -> str:
    """Why something is not known, as a fact says it."""
    reasons = dict.fromkeys(each.unknown for each in unanswered if each.unknown)
    return f"{UNKNOWN}: {' and '.join(reasons)}"
