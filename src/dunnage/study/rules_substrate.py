"""What must fit in the specifications of substrates, family by family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from dunnage.errors import shown
from dunnage.model.offer import Offer, SubstrateOffer
from dunnage.model.study import CONTROL_GROUP, SubstrateSpec, hosts_of
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding, unknown
from dunnage.study.suggest import hint, listed


def substrate_rules(
    draft: Draft, used: Mapping[str, AbstractSet[str]], offer: Offer
) -> Iterator[Finding]:
    """Check every family that is specified or used; `used` maps one to groups that need it."""
    for family, spec in draft.substrates.items():
        if family not in offer.substrates:
            yield unknown(("substrate", family), "substrate", family, offer.substrates)
            continue
        kinds = offer.substrates[family]
        if spec.kind is not None and spec.kind not in kinds:
            what = f"the substrate {shown(family)} has no kind {shown(spec.kind)}"
            yield Finding(("substrate", family, "kind"), what, hint(spec.kind, kinds))
            continue
        yield from _contexts(family, spec, draft, offer)
    for family, groups in used.items():
        wrong = draft.touched("substrate") or family not in offer.substrates
        kind = draft.substrates.get(family, SubstrateSpec()).kind
        if not wrong and (kind is None or kind in offer.substrates[family]):
            yield from _used(family, groups, draft, offer)


def existing(specs: Mapping[str, SubstrateSpec], offer: Offer) -> frozenset[str]:
    """Families of which a study has a substrate that is there already."""
    return frozenset(
        family
        for family, spec in specs.items()
        for kind, each in offer.substrates.get(family, {}).items()
        if kind == spec.kind and each.theirs
    )


def _contexts(family: str, spec: SubstrateSpec, draft: Draft, offer: Offer) -> Iterator[Finding]:
    place = ("substrate", family, "contexts")
    kind, chosen = offer.substrate(family, draft.substrates)
    if not chosen.contexts:
        kinds = offer.substrates[family].items()
        named = next((name for name, each in kinds if each.contexts), None)
        if spec.contexts and named:
            yield Finding(
                place,
                f"`contexts` belongs to the kind {shown(named)}, not to {shown(kind)}",
                f"write `kind: {named}`",
            )
        elif spec.contexts:
            yield Finding(place, f"the substrate {shown(family)} has no contexts", "remove them")
        return
    if draft.groups is None:
        return
    known = (*hosts_of(draft.groups), *chosen.beside)
    for host in spec.contexts:
        if host not in known:
            yield unknown((*place, host), "host", host, known)


def _used(family: str, groups: AbstractSet[str], draft: Draft, offer: Offer) -> Iterator[Finding]:
    """Check a family that deployments need."""
    kind, chosen = offer.substrate(family, draft.substrates)
    if chosen.contexts:
        yield from _without_context(family, groups, draft)
    if chosen.control and CONTROL_GROUP in (draft.groups or ()):
        yield Finding(
            ("testbed", "hosts", CONTROL_GROUP),
            f"the group `{CONTROL_GROUP}` is made for the substrate {shown(family)} and has one "
            "host",
            "remove it, or give it another name",
        )
    yield from _below(family, kind, chosen, draft, offer)


def _without_context(family: str, groups: AbstractSet[str], draft: Draft) -> Iterator[Finding]:
    if draft.groups is None:
        return
    needed = {group: size for group, size in draft.groups.items() if group in groups}
    named = draft.substrates[family].contexts
    without = [host for host in hosts_of(needed) if host not in named]
    if without:
        yield Finding(
            ("substrate", family),
            f"there is no Docker context for {listed(without, most=4)}",
            f"write `contexts: {{{without[0]}: my-docker-context}}`",
        )


def _below(
    family: str, kind: str, chosen: SubstrateOffer, draft: Draft, offer: Offer
) -> Iterator[Finding]:
    """What is there already is left as it is, so nothing of ours can be made of it."""
    if chosen.below is None:
        return
    beneath, its = offer.substrate(chosen.below, draft.substrates)
    if its.contexts:
        named = next(name for name, each in offer.substrates[family].items() if each.contexts)
        yield Finding(
            ("substrate", family if family in draft.substrates else chosen.below),
            f"a substrate {shown(family)} of the kind {shown(kind)} cannot stand on "
            f"{shown(chosen.below)} of the kind {shown(beneath)}: that is left as it is",
            f"write `substrate: {{{family}: {{kind: {named}, contexts: …}}}}`",
        )
