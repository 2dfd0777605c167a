"""Fake parts run only on fake hosts, and real parts only on real hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dunnage.errors import shown
from dunnage.model.choices import Cores
from dunnage.model.offer import Offer, PartOffer, first
from dunnage.study.document import Path
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding
from dunnage.study.matrix import Variant
from dunnage.units import duration

LONGEST = 3600.0
"""Seconds of a run on fake hosts, warm-up included."""


def fake_rules(draft: Draft, every: tuple[Variant, ...], offer: Offer) -> Iterator[Finding]:
    """Yield every part that does not go with the hosts, and what fake hosts do not have."""
    hosts = offer.testbeds.get(draft.testbed.kind) if draft.testbed else None
    if draft.testbed is None or hosts is None:
        return
    for path, noun, kind, parts in _chosen(draft, every, offer):
        if kind not in parts or parts[kind].fake is hosts.fake:
            continue
        instead = _written(path, first(parts, fake=hosts.fake), draft)
        if hosts.fake:
            what = f"the {noun} {shown(kind)} cannot run on fake hosts"
            yield Finding(path, what, f"write {instead} for the {noun}")
        else:
            what = f"a fake {noun} can run on fake hosts only"
            yield Finding(path, what, f"write for example {instead}")
    if hosts.fake and draft.testbed.cores is Cores.SHARED:
        yield Finding(("testbed", "cores"), "fake hosts have no processors", "remove `cores`")
    if hosts.fake and draft.load is not None and not draft.stored:
        seconds = draft.load.warmup + (draft.load.duration or 0.0)
        if seconds > LONGEST:
            what = f"fake hosts hold a run in memory, of {duration(LONGEST)} at most"
            yield Finding(("load",), what, "write a shorter `warmup` and `duration`")
    if hosts.fake and draft.load is not None and draft.load.turns is not None:
        yield Finding(("load", "turns"), "fake hosts do not support turns", "remove `turns`")


def _written(path: Path, kind: str, draft: Draft) -> str:
    """How a part is named at its place, with the mapping around it where the file has none."""
    whole = path[0] == "sampler" and "sampler" not in draft.keys
    return f"`sampler: {{kind: {kind}}}`" if whole else f"`{path[-1]}: {kind}`"


def _chosen(
    draft: Draft, every: tuple[Variant, ...], offer: Offer
) -> Iterator[tuple[Path, str, str, Mapping[str, PartOffer]]]:
    """Every part that a study names: where, what it is, its name, and those of its kind."""
    if draft.database:
        yield ("database", "kind"), "database", draft.database.kind, offer.databases
    if draft.generator:
        yield ("generator",), "generator", draft.generator, offer.generators
    if draft.sampler:
        yield ("sampler", "kind"), "sampler", draft.sampler.kind, offer.samplers
    for variant in every:
        place = draft.place(variant.origin, "platform")
        yield place, "platform", str(variant.keys.get("platform")), offer.platforms
        own = variant.keys.get("database")
        if isinstance(own, Mapping) and "kind" in own:
            place = draft.place(variant.origin, "database", "kind")
            yield place, "database", str(own["kind"]), offer.databases
