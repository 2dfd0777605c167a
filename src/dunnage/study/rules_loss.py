"""What a loss of throughput must make sense of: it is found under one load, of one closed loop."""

from __future__ import annotations

from collections.abc import Iterator

from dunnage.model.choices import Phase
from dunnage.model.study import INSERTING
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding
from dunnage.study.matrix import Variant


def loss_rules(draft: Draft, every: tuple[Variant, ...]) -> Iterator[Finding]:
    """Yield everything that does not go with deployments that shall lose throughput."""
    losing = [variant for variant in every if variant.keys.get("loss")]
    if not losing:
        return
    for variant in losing:
        if variant.keys.get("slowdown"):
            yield Finding(
                ("deployments", variant.origin, "loss"),
                "a `loss` is a slowdown that is found, and one is declared here",
                "remove `slowdown`, or `loss`",
            )
    load = draft.load
    if load is not None and not draft.touched("load"):
        for key in ("rate", "search"):
            if getattr(load, key):
                yield Finding(
                    ("load", key),
                    "at a rate no throughput is lost by a slowdown",
                    f"remove `{key}`, or `loss`",
                )
        if len(load.threads) > 1:
            yield Finding(
                ("load", "threads"),
                "what a slowdown loses differs from level to level, and it is found for one",
                "keep one number of threads",
            )
    if draft.touched("workloads"):
        return
    for index, workload in draft.workloads.items():
        if workload.phase is Phase.LOAD or workload.core in INSERTING:
            yield Finding(
                ("workloads", index),
                "what is lost cannot be found while records are inserted",
                "use A, B, C or F here, or remove `loss`",
            )
    if len(draft.workloads) > 1:
        yield Finding(
            ("workloads",),
            "what a slowdown loses differs from workload to workload, and it is found for one",
            "keep one workload",
        )
