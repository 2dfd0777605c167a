"""What stands against comparing two results, in words."""

from __future__ import annotations

from dunnage.model.between import LeftOut, Mismatch, WhyLeftOut
from dunnage.wording import parity, terms

RESULTS = ("the first result", "the second result")


def mismatch(fact: Mismatch) -> str:
    """One fact in which they differ: `environment: kernel: 6.1.0 → 6.12.3`."""
    return ": ".join(filter(None, (fact.kind.value, ", ".join(fact.deployments), _what(fact))))


def left_out(left: LeftOut) -> str:
    """What decides and cannot be compared, with the reason."""
    named = (left.deployment, left.metric, left.workload, left.level)
    return f"{', '.join(filter(None, named))}: {_why(left)}"


def _what(fact: Mismatch) -> str:
    if fact.difference is not None:
        return parity.sentence(fact.difference, RESULTS)
    if not fact.key:
        return f"measured in the {'second' if fact.a is None else 'first'} result only"
    return f"{fact.key}: {parity.arrow(fact.a, fact.b)}"


def _why(left: LeftOut) -> str:
    results = terms.listed([f"the {name}" for name in left.results])
    if left.why is WhyLeftOut.OTHER_RATE and left.rates is not None:
        one, other = left.rates
        return (
            "not the same load, as the same share of each result's own capacity is "
            f"{one:,.0f} and {other:,.0f} op/s; `dunnage run --rates-of` uses the rates of "
            "an earlier result"
        )
    if left.why is WhyLeftOut.OVER_CAPACITY:
        return f"over capacity in {results} result"
    if left.why is WhyLeftOut.NO_VALUE:
        return f"{results} result has no value"
    return "neither result has a valid run"
