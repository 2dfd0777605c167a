"""What must fit together in one deployment: platform, network, endpoint, database, hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from dunnage.model.offer import Offer, PlatformOffer
from dunnage.model.study import DatabaseSpec, DeploymentSpec, SubstrateSpec, TestbedSpec
from dunnage.study.document import Path
from dunnage.study.draft import Draft
from dunnage.study.grammar import Finding, findings
from dunnage.study.matrix import Variant, merged_database, with_defaults
from dunnage.study.suggest import hint, listed, shown

EXISTING = "existing"
"""The substrate that is already there, reached by contexts."""


def deployment_rules(draft: Draft, every: tuple[Variant, ...], offer: Offer) -> Iterator[Finding]:
    """Yield what does not fit in any deployment, each where the file says it."""
    if draft.database:
        yield from _database(("database",), draft.database, offer, {}, draft.factors)
    used: set[str] = set()
    for variant in every:
        at = _Places(variant.origin, draft)
        wrong = findings(DeploymentSpec, dict(variant.keys))
        if wrong:
            yield from (Finding(at.of(*each.path), each.what, each.hint) for each in wrong)
            continue
        spec = DeploymentSpec.model_validate(variant.keys)
        platform = offer.platforms.get(spec.platform)
        if platform is None:
            yield _unknown(at.of("platform"), "platform", spec.platform, offer.platforms)
        else:
            yield from _platform(spec, platform, at)
            if platform.substrate:
                used.add(platform.substrate)
        yield from _group(spec, draft.testbed, at)
        yield from _own_database(spec, draft, offer, at)
    if draft.substrate and draft.testbed:
        yield from _substrate(draft.substrate, draft.testbed, used, offer)


class _Places:
    """Where the file says a key of one variant: in its deployment or among the factors."""

    def __init__(self, origin: str, draft: Draft) -> None:
        self._origin = origin
        self._factors = draft.factors

    def of(self, *keys: str | int) -> Path:
        for length in range(len(keys), 0, -1):
            factor = ".".join(str(key) for key in keys[:length])
            if factor in self._factors:
                return ("factors", factor)
        return ("deployments", self._origin, *keys)


def _unknown(
    path: Path, noun: str, word: str, known: Mapping[str, object] | tuple[str, ...]
) -> Finding:
    return Finding(path, f"unknown {noun} {shown(word)}", hint(word, known))


def _platform(spec: DeploymentSpec, platform: PlatformOffer, at: _Places) -> Iterator[Finding]:
    name = shown(spec.platform)
    network = spec.network or platform.networks[0]
    if network not in platform.networks:
        yield Finding(
            at.of("network"),
            f"platform {name} has no network {shown(network)}",
            hint(network, platform.networks),
        )
    else:
        endpoints = platform.endpoints[network]
        if spec.endpoint is not None and spec.endpoint not in endpoints:
            yield Finding(
                at.of("endpoint"),
                f"platform {name} has no endpoint {shown(spec.endpoint)} on network "
                f"{shown(network)}",
                hint(spec.endpoint, endpoints),
            )
    if spec.storage not in platform.storages:
        yield Finding(
            at.of("storage"),
            f"platform {name} has no storage {shown(spec.storage.value)}",
            f"known: {listed(storage.value for storage in platform.storages)}",
        )
    if spec.client not in platform.clients:
        yield Finding(
            at.of("client"),
            f"platform {name} cannot run the client in a {spec.client.value}",
            f"known: {listed(client.value for client in platform.clients)}",
        )
    if spec.limits.memory is not None and spec.limits.memory <= 0:
        yield Finding(at.of("limits", "memory"), "`memory` must be more than 0")


def _group(spec: DeploymentSpec, testbed: TestbedSpec | None, at: _Places) -> Iterator[Finding]:
    if testbed is None:
        return
    if spec.hosts not in testbed.hosts:
        yield _unknown(at.of("hosts"), "group of hosts", spec.hosts, tuple(testbed.hosts))
    elif spec.hosts == "client":
        yield Finding(
            at.of("hosts"),
            "members cannot live on the client's hosts: load is made there",
            "name another group, for example `hosts: db`",
        )


def _own_database(
    spec: DeploymentSpec, draft: Draft, offer: Offer, at: _Places
) -> Iterator[Finding]:
    """Judge what a deployment changes about the database, and whether its members have places."""
    if draft.database is None:
        return
    wrong = findings(DatabaseSpec, {"kind": draft.database.kind, **spec.database})
    if wrong:
        yield from (Finding(at.of("database", *each.path), each.what, each.hint) for each in wrong)
        return
    try:
        merged = merged_database(draft.database, spec.database)
    except ValidationError:
        return  # The study's own database is at fault, and that is reported there.
    if spec.database:
        path = at.of("database")
        if path[0] == "deployments":
            yield from _database(path, merged, offer, spec.database, draft.factors)
        else:
            yield from _database(("factors",), merged, offer, spec.database, draft.factors)
    size = draft.testbed.hosts.get(spec.hosts) if draft.testbed else None
    if size is not None and merged.members > size:
        where: Path = ("database", "members")
        if "members" in spec.database:
            where = at.of("database", "members")
        elif "members" not in draft.database.model_fields_set:
            where = ("database",)
        yield Finding(
            where,
            f"{merged.members} members do not fit on the {size} hosts of group "
            f"{shown(spec.hosts)}: members live on different hosts",
            f"write `hosts: {{{spec.hosts}: {merged.members}, client: 1}}` in `testbed`",
        )


def _database(
    path: Path,
    spec: DatabaseSpec,
    offer: Offer,
    override: Mapping[str, object],
    factors: Mapping[str, object],
) -> Iterator[Finding]:
    def of(key: str) -> Path:
        dotted = f"database.{key}"
        if dotted in factors and (override or path == ("factors",)):
            return ("factors", dotted)
        return ("database", key) if override and key not in override else (*path, key)

    database = offer.databases.get(spec.kind)
    if database is None:
        yield _unknown(of("kind"), "database", spec.kind, offer.databases)
        return
    fits = True
    if spec.topology is not None and spec.topology not in database.topologies:
        fits = False
        yield Finding(
            of("topology"),
            f"database {shown(spec.kind)} has no topology {shown(spec.topology)}",
            hint(spec.topology, database.topologies),
        )
    if spec.version is not None and spec.version not in database.versions:
        fits = False
        yield Finding(
            of("version"),
            f"database {shown(spec.kind)} cannot be had in version {shown(spec.version)}",
            hint(spec.version, database.versions),
        )
    if spec.image is not None and not database.images:
        yield Finding(of("image"), f"database {shown(spec.kind)} cannot run from another image")
    if fits:
        for key, what in database.check(with_defaults(spec, offer)):
            yield Finding(of(key), what)


def _substrate(
    substrate: SubstrateSpec, testbed: TestbedSpec, used: set[str], offer: Offer
) -> Iterator[Finding]:
    """Judge the study's substrate; it speaks only for platforms of its own family."""
    if substrate.kind != EXISTING:
        if substrate.contexts:
            yield Finding(
                ("substrate", "contexts"),
                f"`contexts` belongs to the substrate `{EXISTING}`, not to {shown(substrate.kind)}",
                f"write `kind: {EXISTING}`",
            )
        return
    hosts = [f"{group}-{i}" for group, size in testbed.hosts.items() for i in range(1, size + 1)]
    for host in substrate.contexts:
        if host not in hosts:
            yield _unknown(("substrate", "contexts", host), "host", host, tuple(hosts))
    if offer.substrates.get(EXISTING) in used:
        without = [
            host
            for host in hosts
            if host not in substrate.contexts and not host.startswith("client-")
        ]
        if without:
            yield Finding(
                ("substrate",),
                f"no Docker context is named for {listed(without, most=4)}",
                f"write `contexts: {{{without[0]}: my-docker-context}}`",
            )
