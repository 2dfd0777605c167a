"""Soft interrupts: which hosts can have them charged, and what asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from dunnage.errors import shown
from dunnage.model.metrics import CHARGED
from dunnage.model.offer import Offer
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding
from dunnage.study.suggest import listed


def soft_interrupts_rules(draft: Draft, offer: Offer) -> Iterator[Finding]:
    """Yield what asks for soft interrupts to be charged where nobody can, or does."""
    hosts = offer.testbeds.get(draft.testbed.kind) if draft.testbed else None
    asked = draft.sampler is not None and draft.sampler.soft_interrupts
    asking = [
        (("questions", name, "metric"), question.metric)
        for name, question in draft.questions.items()
        if question.metric in CHARGED
    ]
    if draft.testbed is not None and hosts is not None and not hosts.networks:
        why = (
            f"a testbed of the kind {shown(draft.testbed.kind)} cannot charge soft interrupts to "
            "hosts: only hosts that are one machine, with networks of their own, are told apart"
        )
        fit = listed(name for name, each in offer.testbeds.items() if each.networks)
        if asked:
            yield Finding(("sampler", "soft_interrupts"), why, "remove `soft_interrupts`")
        for place, metric in asking:
            what = f"`{metric}` is not measured here: {why}"
            yield Finding(place, what, f"compare another metric, or use the testbed {fit}")
    elif draft.sampler is not None and not asked:
        for place, metric in asking:
            yield Finding(
                place,
                f"`{metric}` needs soft interrupts to be charged, and the sampler does not do it",
                "write `sampler: {soft_interrupts: true}`",
            )
