"""What must fit together in one deployment: platform, network, endpoint, database, hosts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from pydantic import ValidationError

from dunnage.errors import shown
from dunnage.model.choices import Data
from dunnage.model.offer import Offer, PlatformOffer
from dunnage.model.study import CLIENT_GROUP, DatabaseSpec, DeploymentSpec, Limits
from dunnage.study.document import Path, shown_at
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding, findings, unknown
from dunnage.study.matrix import Variant, merged_database, with_defaults
from dunnage.study.rules_data import LOADING, storage_rules
from dunnage.study.rules_networks import Asked, network_rules
from dunnage.study.rules_substrate import existing, substrate_rules
from dunnage.study.suggest import hint, listed

_At = Callable[..., Path]
"""Where the file says a key of one variant."""

_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,254}")
LEAST_CPUS = 0.1
"""The least quota that the kernel takes, 1 ms, in the period of 10 ms that members have."""
MOST_CPUS = 1024.0
"""More than any machine has: then it is no limit."""
LEAST_PIDS = 16
"""Threads count: a Redis server has half a dozen before its first client."""
_SETTING = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


def deployment_rules(draft: Draft, every: tuple[Variant, ...], offer: Offer) -> Iterator[Finding]:
    """Yield what does not fit in any deployment, each where the file says it."""
    if draft.database and not every:
        for key, what, advice in _database(draft.database, offer, draft.data):
            yield Finding(("database", key), what, advice)
    used: dict[str, set[str]] = {}
    asked: list[Asked] = []
    for variant in every:
        at = partial(draft.place, variant.origin)
        written = ("deployments", variant.origin)
        wrong = findings(DeploymentSpec, dict(variant.keys), written, stored=draft.stored)
        if wrong:
            yield from (Finding(at(*each.path[2:]), each.what, each.hint) for each in wrong)
            continue
        spec = DeploymentSpec.model_validate(variant.keys)
        platform = offer.platforms.get(spec.platform)
        if platform is None:
            yield unknown(at("platform"), "platform", spec.platform, offer.platforms)
        else:
            yield from _platform(spec, platform, at)
            yield from storage_rules(spec, platform, draft.data, at("storage"))
            asked.append((spec, platform, at))
            if platform.substrate:
                used.setdefault(platform.substrate, set()).update(platform.groups_of(spec))
        if not draft.stored:
            yield from _limits(spec.limits, at)
        yield from _group(spec, draft.groups, at)
        yield from _own_database(spec, draft, offer, at)
    if not draft.stored:
        yield from network_rules(asked, existing(draft.substrates, offer))
    yield from substrate_rules(draft, used, offer)


def _platform(spec: DeploymentSpec, platform: PlatformOffer, at: _At) -> Iterator[Finding]:
    name = shown(spec.platform)
    network = spec.network or next(iter(platform.networks))
    chosen = platform.networks.get(network)
    endpoints = tuple(chosen.endpoints) if chosen else (spec.endpoint or "",)
    for key, value, known, where in (
        ("network", network, tuple(platform.networks), ""),
        ("endpoint", spec.endpoint, endpoints, f" on network {shown(network)}"),
        ("storage", spec.storage, platform.storages, ""),
    ):
        if value is not None and value not in known:
            what = f"platform {name} has no {key} {shown(value)}{where}"
            yield Finding(at(key), what, hint(value, known))
    if spec.network_options and chosen and not chosen.takes_options:
        able = [each for each, offer in platform.networks.items() if offer.takes_options]
        yield Finding(
            at("network_options"),
            f"network {shown(network)} of platform {name} is not made for a deployment, so that it "
            "takes no options",
            f"networks that take options: {listed(able)}" if able else "remove `network_options`",
        )
    if spec.client not in platform.clients:
        yield Finding(
            at("client"),
            f"platform {name} cannot run the client in a {spec.client.value}",
            f"known: {listed(client.value for client in platform.clients)}",
        )
    endpoint = chosen.endpoints.get(spec.endpoint or endpoints[0]) if chosen else None
    if endpoint is not None and spec.client not in endpoint.clients:
        (place,) = endpoint.clients
        yield Finding(
            at("client"),
            f"endpoint {shown(spec.endpoint or endpoints[0])} cannot be reached from a "
            f"{spec.client.value}",
            f"write `client: {place.value}`, and compare with a deployment that has it too",
        )


def _limits(limits: Limits, at: _At) -> Iterator[Finding]:
    """Limits that leave a server next to nothing, or that limit nothing."""
    if limits.cpus is not None and not LEAST_CPUS <= limits.cpus <= MOST_CPUS:
        least, most = f"{LEAST_CPUS:g}", f"{MOST_CPUS:g}"
        yield Finding(
            at("limits", "cpus"),
            f"`cpus` must be from {least} to {most} processors, not {shown(f'{limits.cpus:g}')}",
            "write for example `cpus: 1.5`, or leave it out: then there is no limit",
        )
    if limits.pids is not None and limits.pids < LEAST_PIDS:
        yield Finding(
            at("limits", "pids"),
            f"`pids` must be at least {LEAST_PIDS}, not `{limits.pids}`: threads count, and a "
            "server has several before its first client",
            "write for example `pids: 200`, or leave it out: then there is no limit",
        )


def _group(spec: DeploymentSpec, groups: Mapping[str, int] | None, at: _At) -> Iterator[Finding]:
    if groups is None:
        return
    if spec.hosts not in groups:
        yield unknown(at("hosts"), "group of hosts", spec.hosts, tuple(groups))
    elif spec.hosts == CLIENT_GROUP:
        yield Finding(
            at("hosts"),
            "members cannot run on the client's hosts: the load generator runs there",
            "name another group, for example `hosts: db`",
        )


def _own_database(spec: DeploymentSpec, draft: Draft, offer: Offer, at: _At) -> Iterator[Finding]:
    """Check what a deployment changes of the database, and whether its members have hosts."""
    if draft.database is None:
        return
    wrong = findings(DatabaseSpec, {"kind": draft.database.kind, **spec.database}, ("database",))
    if wrong:
        yield from (Finding(at(*each.path), each.what, each.hint) for each in wrong)
        return
    try:
        merged = merged_database(draft.database, spec.database)
    except ValidationError:
        return  # The study's own database is at fault, and that is reported there.
    shared = set(_database(draft.database, offer, draft.data))
    for key, what, advice in _database(merged, offer, draft.data):
        keys = ("database", key) if key in spec.database else ("database",)
        inherited = (key, what, advice) in shared
        place = ("database", key) if inherited else at(*keys)
        yield Finding(place, what, advice)
    size = draft.groups.get(spec.hosts) if draft.groups and spec.hosts != CLIENT_GROUP else None
    if size is not None and merged.members > size:
        own = "members" in spec.database
        yield Finding(
            at("database", "members") if own else ("database", "members"),
            f"{merged.members} members do not fit on the {size} hosts of group "
            f"{shown(spec.hosts)}: each member needs its own host",
            f"write `hosts: {{{spec.hosts}: {merged.members}, client: 1}}` in `testbed`",
        )


def _database(spec: DatabaseSpec, offer: Offer, data: Data) -> Iterator[tuple[str, str, str]]:
    """Yield (key, sentence, advice) for everything that does not fit in one database."""
    database = offer.databases.get(spec.kind)
    if database is None:
        yield "kind", f"unknown database {shown(spec.kind)}", hint(spec.kind, offer.databases)
        return
    fits = True
    for key, chosen, known, cannot in (
        ("topology", spec.topology, database.topologies, "has no topology"),
        ("version", spec.version, database.versions, "has no version"),
    ):
        if chosen is not None and chosen not in known:
            fits = False
            what = f"database {shown(spec.kind)} {cannot} {shown(chosen)}"
            yield key, what, hint(chosen, known)
    if spec.image is not None and not database.images:
        yield "image", f"database {shown(spec.kind)} cannot run from another image", ""
    elif spec.image is not None and not _IMAGE.fullmatch(spec.image):
        yield (
            "image",
            f"{shown(spec.image)} is not the name of an image",
            f"write for example `{spec.kind}:{database.versions[0]}`",
        )
    for name, value in spec.settings.items():
        advice = "write one word as the setting and one line as its value"
        if not _SETTING.fullmatch(name):
            word = name.strip()
            blank = ": there is a blank beside it" if word != name else ""
            yield "settings", f"{shown(word or name)} is not the name of a setting{blank}", advice
        elif not str(value).isprintable():
            told = shown_at(("settings", name), value)
            what = f"the value of the setting {shown(name)} is not one line of text: {told}"
            yield "settings", what, advice
    if fits:
        whole = with_defaults(spec, offer)
        yield from ((key, what, "") for key, what in database.check(whole))
        if data is Data.RESTORE:
            yield from ((key, what, LOADING) for key, what in database.check_restore(whole))
