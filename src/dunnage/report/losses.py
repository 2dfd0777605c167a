"""What is known of a loss of throughput that a study asks for, as sentences."""

from __future__ import annotations

from dunnage.model.analysis import Analysis, Estimate
from dunnage.report import numbers, words
from dunnage.units import percent


def losses(analysis: Analysis) -> tuple[str, ...]:
    """One sentence for each deployment that shall lose throughput."""
    return tuple(
        f"{words.plain(name)} shall lose {percent(found.asked)} of throughput; stopped for "
        f"{percent(found.share)} of the time it lost {_said(found.loss)} before block 1"
        + (
            f", and {_said(found.checked)} after the last"
            if found.checked is not None
            else "; that was not measured again after the last block"
        )
        for name, found in analysis.losses.items()
    )


def _said(loss: Estimate) -> str:
    """The loss with its interval and what it was made of."""
    assert loss.low is not None and loss.high is not None  # noqa: S101 (a look always has both)
    ends = f"{100 * loss.low:.1f} … {percent(loss.high)}"
    return f"{percent(loss.value)} ({ends}, {numbers.count(loss.n, 'pair')})"
