"""Hosts that are someone else's: what they need, and what cannot be done with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dunnage.errors import shown
from dunnage.model.choices import Cores
from dunnage.model.offer import FLOATING_IP, HOST_NAME, Offer, TestbedOffer
from dunnage.model.study import TestbedSpec
from dunnage.study.document import Path
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding, unknown
from dunnage.study.matrix import Variant
from dunnage.study.suggest import listed

_OF_NODES = ("context", "nodes", "image", "labels")
"""Keys of a testbed that say how nodes become hosts."""


def nodes_rules(draft: Draft, every: tuple[Variant, ...], offer: Offer) -> Iterator[Finding]:
    """Yield what does not go with the kind of testbed."""
    hosts = offer.testbeds.get(draft.testbed.kind) if draft.testbed else None
    if draft.testbed is None or hosts is None:
        return
    if hosts.here:
        yield from _of_nodes(draft.testbed, offer)
        yield from _not_brought(draft, offer)
        return
    yield from _reached(draft.testbed)
    yield from _places(draft, draft.testbed)
    yield from _not_ours(draft.testbed)
    yield from _substrates(draft, hosts)
    if draft.load is not None and draft.load.turns is not None:
        what = "hosts that are someone else's cannot be held still, so there are no turns"
        yield Finding(("load", "turns"), what, "remove `turns`")
    for variant in every:
        yield from _deployment(draft, variant, hosts, offer)


def _of_nodes(spec: TestbedSpec, offer: Offer) -> Iterator[Finding]:
    kind = next((name for name, each in offer.testbeds.items() if not each.here), "")
    for key in _OF_NODES:
        if getattr(spec, key):
            what = f"`{key}` is for hosts that are nodes of a Kubernetes"
            yield Finding(("testbed", key), what, f"write `kind: {kind}`, or remove `{key}`")


def _not_brought(draft: Draft, offer: Offer) -> Iterator[Finding]:
    """Substrates that are there only where the testbed's hosts are part of them."""
    for family, spec in draft.substrates.items():
        chosen = offer.substrates.get(family, {}).get(spec.kind or "")
        if chosen is not None and chosen.of_testbed:
            yield Finding(
                ("substrate", family, "kind"),
                f"the hosts of this testbed are part of no {shown(family)} of the kind "
                f"{shown(spec.kind)}",
                "leave out `kind`: then it is made for the study",
            )


def _reached(spec: TestbedSpec) -> Iterator[Finding]:
    if not spec.context:
        yield Finding(
            ("testbed",),
            f"hosts of the kind {shown(spec.kind)} need a context of your kubeconfig",
            "write `context: my-cluster`; to list them: kubectl config get-contexts",
        )


def _places(draft: Draft, spec: TestbedSpec) -> Iterator[Finding]:
    if draft.groups is None:
        return
    for group, names in spec.nodes.items():
        place: Path = ("testbed", "nodes", group)
        if group not in draft.groups:
            yield unknown(place, "group of hosts", group, tuple(draft.groups))
        elif len(names) != draft.groups[group]:
            yield Finding(
                place,
                f"group {shown(group)} has {draft.groups[group]} hosts, and {len(names)} nodes are "
                "named for it",
                "name one node for each host",
            )
    counted = Counter(each for names in spec.nodes.values() for each in names)
    twice = [each for each, count in counted.items() if count > 1]
    if twice:
        what = f"a node can be one host only; named more than once: {listed(twice)}"
        yield Finding(("testbed", "nodes"), what, "name another node")


def _not_ours(spec: TestbedSpec) -> Iterator[Finding]:
    given = {
        "memory": spec.memory is not None,
        "cores": spec.cores is not Cores.APART,
        "steer": not spec.steer,
    }
    for key, is_given in given.items():
        if is_given:
            what = f"`{key}` cannot be chosen for hosts that are someone else's"
            yield Finding(("testbed", key), what, f"remove `{key}`")


def _substrates(draft: Draft, hosts: TestbedOffer) -> Iterator[Finding]:
    for family, spec in draft.substrates.items():
        brought = hosts.brings.get(family)
        if brought is None or spec.kind != brought:
            yield Finding(
                ("substrate", family),
                f"no {shown(family)} is made on hosts that are someone else's"
                if brought is None
                else f"the hosts are nodes of a {shown(family)} already",
                f"remove {shown(family)}",
            )


def _deployment(
    draft: Draft, variant: Variant, hosts: TestbedOffer, offer: Offer
) -> Iterator[Finding]:
    platform = offer.platforms.get(str(variant.keys.get("platform")))
    if platform is None:
        return
    place = draft.place(variant.origin, "platform")
    if platform.substrate not in hosts.brings:
        fit = [name for name, each in offer.platforms.items() if each.substrate in hosts.brings]
        what = f"platform {shown(variant.keys.get('platform'))} cannot run on someone else's nodes"
        yield Finding(place, what, f"known: {listed(fit)}")
        return
    network = str(variant.keys.get("network") or next(iter(platform.networks)))
    known = platform.networks[network].endpoints if network in platform.networks else {}
    endpoint = str(variant.keys.get("endpoint") or next(iter(known), ""))
    if known.get(endpoint) in (HOST_NAME, FLOATING_IP):
        fit = [name for name, each in known.items() if each not in (HOST_NAME, FLOATING_IP)]
        yield Finding(
            draft.place(variant.origin, "endpoint"),
            f"endpoint {shown(endpoint)} is of the hosts of a lab",
            f"known for nodes: {listed(fit)}",
        )
    own = variant.keys.get("database")
    image = own.get("image") if isinstance(own, dict) else None
    if draft.database is not None and not (image or draft.database.image):
        yield Finding(
            ("database",),
            "the nodes can be brought no image of ours, and none is named that they can pull",
            f"write for example `image: {draft.database.kind}:VERSION`",
        )
