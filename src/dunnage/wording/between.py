"""What stands against comparing two results, in words."""

from __future__ import annotations

from dunnage.model.between import LeftOut, Mismatch, WhyLeftOut
from dunnage.wording import parity, terms

RESULTS = ("the first result", "the second result")


def mismatch(found: Mismatch) -> str:
    """One fact in which they differ: `environment: kernel: 6.1.0 → 6.12.3`."""
    return ": ".join(filter(None, (found.kind.value, ", ".join(found.deployments), _what(found))))


def left_out(found: LeftOut) -> str:
    """What decides and cannot be compared, with the reason."""
    named = (found.deployment, found.metric, found.workload, found.level)
    return f"{', '.join(filter(None, named))}: {_why(found)}"


def _what(found: Mismatch) -> str:
    if found.difference is not None:
        return parity.sentence(found.difference, RESULTS)
    if not found.key:
        return f"measured in the {'second' if found.a is None else 'first'} result only"
    return f"{found.key}: {parity.arrow(found.a, found.b)}"


def _why(found: LeftOut) -> str:
    results = terms.listed([f"the {name}" for name in found.results])
    if found.why is WhyLeftOut.OTHER_RATE and found.rates is not None:
        one, other = found.rates
        return (
            "not the same load, as the same share of each result's own capacity is "
            f"{one:,.0f} and {other:,.0f} op/s; `dunnage run --rates-of` takes an earlier "
            "result's rates over"
        )
    if found.why is WhyLeftOut.OVER_CAPACITY:
        return f"over capacity in {results} result"
    if found.why is WhyLeftOut.NO_VALUE:
        return f"{results} result has no value"
    return "neither result has a valid run"
