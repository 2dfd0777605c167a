"""What became of stages and tests, and how it is read from what they left."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from gate.known import Known


class State(StrEnum):
    """What became of one test, or of one check."""

    PASSED = "passed"
    FAILED = "failed"
    FLAKY = "flaky"
    """It failed, and passed when it was run once more by itself."""
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Outcome:
    """What became of one test; of a stage that is one check, the check goes by the stage's name."""

    test: str
    state: State
    seconds: float = 0.0
    """0 where nobody measured it, because it was killed or did not run."""
    why: str = ""
    """What a failed test said, or why one was skipped."""
    seen: tuple[str, ...] = ()
    """What a proof saw, for its table."""


@dataclass
class Told:
    """What a pytest process has told so far."""

    collected: tuple[str, ...] = ()
    started: dict[str, None] = field(default_factory=dict)
    """Tests that run now, in the order in which they started."""
    ended: dict[str, Outcome] = field(default_factory=dict)
    known: list[Known] = field(default_factory=list)
    """Tests that were only collected."""

    def take(self, lines: Iterable[str]) -> None:
        """Take in whole lines of what `gate.plugin` wrote."""
        for line in lines:
            event = json.loads(line)
            match event["event"]:
                case "collected":
                    self.collected = self.collected or tuple(event["tests"])
                case "known":
                    marks, limit = frozenset(event["marks"]), event["limit"] or math.inf
                    self.known.append(Known(event["test"], marks, limit, event["made_for"]))
                case "started":
                    self.started[event["test"]] = None
                case "ended":
                    test = event["test"]
                    self.started.pop(test, None)
                    self.ended[test] = Outcome(
                        test,
                        State(event["outcome"]),
                        event["seconds"],
                        event["why"],
                        tuple(event.get("seen", ())),
                    )

    def left_out(self, why: str) -> list[str]:
        """Call what runs now failed, for its process has ended, and return what has not run."""
        hung, self.started = self.started, {}
        for test in hung:
            self.ended[test] = Outcome(test, State.FAILED, why=why)
        return self.missing() if hung else []

    def missing(self) -> list[str]:
        """Tests that were collected and have not ended."""
        return [test for test in self.collected if test not in self.ended]


def told_apart(first: Outcome, again: Outcome | None) -> Outcome:
    """A failure that did not repeat itself is chance, which is named and does not fail the gate."""
    if first.state is not State.FAILED or again is None:
        return first
    return replace(first, state=State.FLAKY) if again.state is State.PASSED else first


_CARGO_RESULT = re.compile(
    r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored",
    re.MULTILINE,
)
_CARGO_FAILURES = re.compile(r"^failures:\n(?P<tests>(?: {4}[\w:]+\n)+)", re.MULTILINE)


def cargo(log: str, code: int | None, name: str) -> list[Outcome]:
    """Tests of Rust's runner: those that failed by name, the others counted."""
    results = list(_CARGO_RESULT.finditer(log))
    named = {test for match in _CARGO_FAILURES.finditer(log) for test in match["tests"].split()}
    failed = sorted(named) if code != 0 else []
    passed = sum(int(match["passed"]) for match in results)
    ignored = sum(int(match["ignored"]) for match in results)
    outcomes = [Outcome(f"{name} {number}", State.PASSED) for number in range(1, passed + 1)]
    outcomes += [Outcome(f"{name} {test}", State.FAILED, why=log) for test in failed]
    outcomes += [
        Outcome(f"{name}: ignored {number}", State.SKIPPED, why="marked `ignore` in the source")
        for number in range(1, ignored + 1)
    ]
    if code != 0 and not failed:  # it was not built, or killed
        outcomes.append(Outcome(name, State.FAILED, why=log))
    return outcomes
