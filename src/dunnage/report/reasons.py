"""Why runs do not count: alike reasons told once, with how many runs and over what range."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dunnage.model.analysis import Analysis, RunSummary
from dunnage.report import numbers, words

CAUSES: Mapping[str, str] = {
    "clock": "the clock of a host was set while it was measured",
    "parity": "the deployments did not run the same thing",
    "parity unknown": "nobody knows whether the deployments ran the same thing",
    "connections": "clients went round the address under study",
    "parts": "not every load generator took part",
    "slowdown": "the declared slowdown was missed",
    "steal": "somebody else on this physical machine took processor time",
    "other load": "other programs on this machine were busy",
    "swap": "memory was swapped to disk",
    "throttled": "a CPU quota that the study does not name held processes back",
    "errors": "operations failed",
    "samples": "the hosts were not watched all the time",
    "client": "the load generator was at its own limit",
    "schedule": "the load generator could not keep its own schedule",
    "search": "the search for saturation did not settle",
    "steady": "the database had not settled, its throughput still moved",
    "duration": "the run was too short",
    "idle": "deployments were busy while others had their turns",
}
"""Gate → what a newcomer should read, causes before what they bring about: stolen processor time
makes a client busy and a run unsteady, never the other way round."""

_NAMES_SHOWN = 3
_TOKEN = re.compile(
    r"(?<![\w-])(?:(?P<name>[A-Za-z]\w*(?:-\w+)*-\d+)|[+\u2212-]?\d+(?:[.,]\d+)*)(?!\w)"
)
"""A host or a member (`db-2`), or a figure; digits inside a word are part of the word."""


@dataclass(frozen=True)
class Reason:
    """One reason, with everything drawn together in which its runs differ."""

    gate: str
    seen: str
    wanted: str
    runs: int

    @property
    def cause(self) -> str:
        """The gate in plain words."""
        return CAUSES.get(self.gate, self.gate)

    @property
    def text(self) -> str:
        """What was seen and wanted, in one line."""
        text = f"{self.gate}: {self.seen}" if self.gate else self.seen
        return f"{text}; wanted {self.wanted}" if self.wanted else text


def grouped(reasons: Iterable[str]) -> tuple[Reason, ...]:
    """Draw together reasons that differ in figures and host names only, the most frequent first."""
    alike: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for reason in reasons:
        gate, seen, wanted = _split(words.plain(reason))
        alike.setdefault((gate, _kind(f"{seen}; {wanted}")), []).append((gate, seen, wanted))
    found = [
        Reason(
            gate=group[0][0],
            seen=merged([seen for _, seen, _ in group]),
            wanted=merged([wanted for _, _, wanted in group]),
            runs=len(group),
        )
        for group in alike.values()
    ]
    return tuple(sorted(found, key=lambda reason: -reason.runs))


def why_not_valid(analysis: Analysis) -> tuple[Reason, ...]:
    """Every reason why a run is not valid; a run with two reasons stands behind both."""
    return grouped(reason for run in analysis.runs for reason in run.reasons)


def first_causes(analysis: Analysis) -> Mapping[str, tuple[Reason, ...]]:
    """Gate → reasons, every run that does not count under its first cause only; most runs first."""
    chosen = [_first(run) for run in analysis.runs if run.status != "valid"]
    causes: dict[str, list[Reason]] = {}
    for reason in grouped(chosen):
        causes.setdefault(reason.gate, []).append(reason)
    ranked = sorted(causes.items(), key=lambda item: -sum(reason.runs for reason in item[1]))
    return {gate: tuple(group) for gate, group in ranked}


def merged(texts: Sequence[str]) -> str:
    """One text for several that differ in figures and names only: a figure becomes its range."""
    tokens = [list(_TOKEN.finditer(text)) for text in texts]
    parts, end = [], 0
    for place, match in enumerate(tokens[0]):
        parts.append(texts[0][end : match.start()])
        parts.append(_drawn_together([row[place][0] for row in tokens]))
        end = match.end()
    return "".join([*parts, texts[0][end:]])


def _first(run: RunSummary) -> str:
    """The reason behind a run's other reasons."""
    order = {gate: place for place, gate in enumerate(CAUSES)}
    return min(
        run.reasons or (f"{run.status}: no reason was recorded",),
        key=lambda reason: order.get(_split(reason)[0], len(order)),
    )


def _split(reason: str) -> tuple[str, str, str]:
    """`gate: seen; wanted bound` in its three parts."""
    gate, colon, rest = reason.partition(": ")
    if not colon:
        gate, rest = "", reason
    seen, parted, wanted = rest.rpartition("; wanted ")
    return (gate, seen, wanted) if parted else (gate, rest, "")


def _kind(text: str) -> str:
    return _TOKEN.sub(lambda match: "\0" if match["name"] else "\1", text)


def _drawn_together(found: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(found))
    if len(distinct) == 1:
        return distinct[0]
    try:
        ranked = sorted(distinct, key=_number)
    except ValueError:
        rest = len(distinct) - _NAMES_SHOWN
        shown = ", ".join(sorted(distinct)[:_NAMES_SHOWN])
        return shown if rest <= 0 else f"{shown} and {rest} more"
    return f"{ranked[0]} to {ranked[-1]}"


def _number(text: str) -> float:
    return float(text.replace(",", "").replace(numbers.MINUS, "-"))
