"""Words that the terminal and the page share: verdicts, levels, metrics, reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from dunnage.errors import plain as plain
from dunnage.model.analysis import Verdict
from dunnage.model.level import Level
from dunnage.model.metrics import METRICS

MARKS: Mapping[Verdict, tuple[str, str]] = {
    Verdict.OVERHEAD: ("▼", "red"),
    Verdict.GAIN: ("▲", "green"),
    Verdict.EQUIVALENT: ("≈", "cyan"),
    Verdict.INCONCLUSIVE: ("?", "yellow"),
}
"""Symbol, and what a terminal shows it in: worse, better, the same, not settled, whichever way the
number itself went."""

_LEVELS_TOLD = 4
_LEVELS = (
    (re.compile(r"t1"), "1 thread"),
    (re.compile(r"t(\d+)"), r"\1 threads"),
    (re.compile(r"r(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"), r"\1 op/s"),
    (re.compile(r"s(\d+(?:\.\d+)?)"), r"\1 % of the baseline's capacity"),
    (re.compile(r"search"), "at saturation"),
)


def mark(verdict: Verdict) -> str:
    """A verdict with its symbol, so that colour never speaks alone: `▼ overhead`."""
    return f"{MARKS[verdict][0]} {verdict.value}"


def level(name: str) -> str:
    """A level as people say it: `t32` is `32 threads`, `r2000` is `2000 op/s`."""
    found = ((pattern.fullmatch(name), words) for pattern, words in _LEVELS)
    return next((match.expand(words) for match, words in found if match), plain(name))


def levels(found: Iterable[Level]) -> str:
    """Several levels in a sentence: `5 and 40 threads`, `1 to 128 threads in 8 levels`."""
    every = list(found)
    threads = sorted({each.threads for each in every if each.threads is not None})
    rates = sorted({each.rate for each in every if each.rate is not None and each.share is None})
    others = sorted(
        (each for each in every if each.share is not None or each.search is not None),
        key=lambda each: each.weight,
    )
    told = _counted([f"{n}" for n in threads], "thread" if threads == [1] else "threads")
    told += _counted([f"{rate:.12g}" for rate in rates], "op/s")
    told += dict.fromkeys(level(each.name) for each in others)
    return listed(told)


def _counted(values: Sequence[str], noun: str) -> list[str]:
    if len(values) > _LEVELS_TOLD:
        return [f"{values[0]} to {values[-1]} {noun} in {len(values)} levels"]
    return [f"{listed(values)} {noun}"] if values else []


def condition(workload: str, name: str) -> str:
    """The heading of what was measured together: `Workload A, 32 threads`."""
    return f"Workload {plain(workload)}, {level(name)}"


def title(metric: str) -> str:
    """A metric's title, for headings."""
    text = METRICS[metric].title
    return text[:1].upper() + text[1:]


def phrase(metric: str) -> str:
    """A metric inside a sentence: `throughput`, `service time (p95)`."""
    text = METRICS[metric].title
    text = re.sub(r", (p[\d.]+|mean|[a-z ]+)$", r" (\1)", text)
    return text if text.startswith("CPU") else text[:1].lower() + text[1:]


def together(items: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """(who, sentence) with everybody of whom the same is said in one line: `a, b: sentence`."""
    who: dict[str, dict[str, None]] = {}
    for name, sentence in items:
        who.setdefault(plain(sentence), {})[name] = None
    return tuple(f"{', '.join(names)}: {sentence}" for sentence, names in who.items())


def listed(items: Sequence[str]) -> str:
    """Things in a sentence: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))
