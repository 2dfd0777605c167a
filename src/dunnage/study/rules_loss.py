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
                "`loss` finds its own slowdown, so `slowdown` is not allowed",
                "remove `slowdown`, or `loss`",
            )
    load = draft.load
    if load is not None and not draft.touched("load"):
        for key in ("rate", "search"):
            if getattr(load, key):
                yield Finding(
                    ("load", key),
                    "a slowdown loses no throughput at a fixed rate, so `loss` needs a closed loop",
                    f"remove `{key}`, or `loss`",
                )
        if len(load.threads) > 1:
            yield Finding(
                ("load", "threads"),
                "a loss is found for one level only",
                "keep one number of threads",
            )
    if draft.touched("workloads"):
        return
    for index, workload in draft.workloads.items():
        if workload.phase is Phase.LOAD or workload.core in INSERTING:
            yield Finding(
                ("workloads", index),
                "a loss cannot be found while records are inserted",
                "use A, B, C or F here, or remove `loss`",
            )
    if len(draft.workloads) > 1:
        yield Finding(
            ("workloads",),
            "a loss is found for one workload only",
            "keep one workload",
        )
