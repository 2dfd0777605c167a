"""What is known of a loss of throughput that a study asks for, as sentences."""

from __future__ import annotations

from dunnage.findings.losses.agreement import Agreement, agreements
from dunnage.model.analysis import Analysis
from dunnage.model.estimate import Estimate
from dunnage.model.loss import KnownLoss
from dunnage.units import percent
from dunnage.wording import numbers, terms


def losses(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each deployment that shall lose throughput, and one for what was read."""
    known = (
        f"{terms.plain(name)} must lose {percent(loss.asked)} of throughput: before block 1 its "
        f"servers were stopped for {percent(loss.share)} of the time, and the loss was between "
        f"{_ends(loss.loss)}; {_checked(loss)}"
        for name, loss in analysis.losses.items()
    )
    return (*known, *map(_read, agreements(analysis)))


def _read(found: Agreement) -> str:
    """What the answer says of a known loss, and whether the two agree."""
    read = found.comparison
    ends = numbers.interval(read.difference)
    agree = "agrees with" if found.holds else "does not agree with"
    return (
        f"the answer says {numbers.seen(read.difference)} ({ends}) for "
        f"{terms.plain(read.deployment)} under workload {terms.plain(read.workload)}, which "
        f"{agree} the {percent(found.known)} that is known to be lost: the difference is "
        f"{numbers.points(found.difference)} percentage points "
        f"({numbers.points(found.low)} … {numbers.points(found.high)})"
    )


def _checked(loss: KnownLoss) -> str:
    """What the same stops lost after the last block, and whether that is what was asked for."""
    checked = loss.checked
    if checked is None:
        return "it was not measured again after the last block"
    low, high = _known(checked)
    told = f"after the last block it was {percent(checked.value)}, between {_ends(checked)}"
    if low <= loss.asked <= high:
        return told
    return f"{told}. That is not the requested loss, so it is known only as far as both tell"


def _ends(loss: Estimate) -> str:
    """The ends of a loss's interval, and how many pieces of time they are of."""
    low, high = _known(loss)
    pairs = numbers.count(loss.n, "pair of pieces", "pairs of pieces")
    return f"{100 * low:.1f} and {percent(high)} ({pairs} of one stay)"


def _known(loss: Estimate) -> tuple[float, float]:
    assert loss.low is not None and loss.high is not None  # noqa: S101 (a look always has both)
    return loss.low, loss.high
