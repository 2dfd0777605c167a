"""The closing lines: every failure, every flaky test, every skip and why, and the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gate.carry import Carried
from gate.outcome import Outcome, State

SLOWEST = 20
AT_ONCE = 10
"""Failures of a stage that are named as soon as it ends; the closing lines have them all."""
LINES = 40
"""Lines of what a failed test said that are repeated here; the stage's log has them all."""


def duration(seconds: float) -> str:
    """`4 s`, `3 min 20 s`."""
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


def counts(outcomes: Iterable[Outcome]) -> str:
    """The last line; a flaky test is among those that passed."""
    found = Counter(each.state for each in outcomes)
    passed = found[State.PASSED] + found[State.FLAKY]
    return f"gate: {passed} passed, {found[State.FAILED]} failed, {found[State.SKIPPED]} skipped"


def stage_line(place: int, of: int, carried: Carried) -> str:
    """One stage that has ended."""
    found = Counter(each.state for each in carried.outcomes)
    states = ", ".join(f"{found[state]} {state}" for state in State if found[state])
    return f"[{place:2}/{of}] {carried.stage.name:<12} {duration(carried.seconds):>12}  {states}"


def failures(carried: Carried) -> list[str]:
    """What of one stage needs a look, and where to look while the others still run."""
    wrong = [each for each in carried.outcomes if each.state in (State.FAILED, State.FLAKY)]
    names = [f"        {each.state} {each.test}" for each in wrong[:AT_ONCE]]
    more = [f"        and {len(wrong) - AT_ONCE} more"] if len(wrong) > AT_ONCE else []
    return [*names, *more, f"        log: {carried.log}"] if wrong else []


def closing(stages: Sequence[Carried]) -> list[str]:
    """All that somebody has to know who saw nothing else."""
    lines: list[str] = []
    everything = [each for carried in stages for each in carried.outcomes]
    for carried in stages:
        for each in carried.outcomes:
            if each.state in (State.FAILED, State.FLAKY):
                said = [*_ending(each.why), f"  log: {carried.log}"]
                lines += ["", f"{each.state.upper()} {each.test}", *said]
    slow = sorted(everything, key=lambda each: -each.seconds)[:SLOWEST]
    lines += ["", f"The {len(slow)} slowest:"]
    lines += [f"  {duration(each.seconds):>12}  {each.test}" for each in slow]
    lines += ["", f"All stages took {duration(sum(carried.seconds for carried in stages))}."]
    named = {
        State.SKIPPED: "Skipped, and why:",
        State.FLAKY: "Flaky (failed, then passed by itself), to be cured before other work:",
        State.FAILED: "Failed:",
    }
    for state, title in named.items():
        found = [each for each in everything if each.state is state]
        if found:
            lines += ["", title]
            lines += [
                f"  {each.test}" + (f": {each.why}" if state is State.SKIPPED else "")
                for each in found
            ]
    left = [f"  {carried.stage.name}: {command}" for carried in stages for command in carried.left]
    if left:
        lines += ["", "Left running by a stage, and killed:", *left]
    flaky = sum(each.state is State.FLAKY for each in everything)
    return [*lines, "", f"{flaky} flaky, counted as passed.", counts(everything)]


def _ending(said: str) -> list[str]:
    lines = said.strip().splitlines()
    cut = ["  …"] if len(lines) > LINES else []
    return cut + [f"  {line}" for line in lines[-LINES:]]
