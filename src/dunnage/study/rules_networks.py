"""What must fit in the options of networks, and together where a substrate has only one network, as
a Kubernetes has."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from dunnage.errors import shown
from dunnage.model.cni import label
from dunnage.model.offer import NetworkOffer, PlatformOffer
from dunnage.model.study import DeploymentSpec
from dunnage.study.document import Path
from dunnage.study.grammar import Finding, unknown
from dunnage.study.suggest import hint, listed

Asked = tuple[DeploymentSpec, PlatformOffer, Callable[..., Path]]
"""A deployment's keys, its platform, and where the file says a key."""


def network_rules(every: Iterable[Asked], existing: Container[str | None]) -> Iterator[Finding]:
    """Yield what does not fit in the options of each network, and every second network of a
    substrate.

    `existing` are the families of substrates that are there already.
    """
    made: dict[str | None, list[Mapping[str, object]]] = {}
    for spec, platform, at in every:
        name = spec.network or next(iter(platform.networks))
        chosen = platform.networks.get(name)
        if chosen is None:
            continue
        if not chosen.options:
            yield from _mappings(spec, name, chosen, at)
            continue
        there = platform.substrate in existing
        if chosen.existing is not None and chosen.existing is not there:
            yield _not_of_it(name, platform, at, existing=there)
            continue
        wrong = (*_options(spec, name, chosen, at), *_misfits(spec, chosen, at))
        yield from wrong
        if wrong:
            continue
        asked: Mapping[str, object] = {"network": name, **_values(spec, chosen)}
        before = made.setdefault(platform.substrate, [])
        if before and asked not in before:
            other = next(key for key in asked if asked[key] != before[0].get(key))
            key = ("network",) if other == "network" else ("network_options", other)
            yield Finding(
                at(*key),
                f"one study has one {platform.name}, with one network of pods: {_told(before[0])}, "
                f"and not {_told(asked)} too",
                "put them into studies of their own",
            )
        before.append(asked)


def _not_of_it(
    network: str, platform: PlatformOffer, at: Callable[..., Path], *, existing: bool
) -> Finding:
    """Nothing is made of what is there already, so that it keeps the network that it has."""
    known = [name for name, each in platform.networks.items() if each.existing in (None, existing)]
    if existing:
        what = f"is made for the study, and this {platform.name} exists already"
        return Finding(
            at("network"),
            f"network {shown(network)} {what}",
            f"name the network that it has; known: {listed(known)}",
        )
    what = f"is what a {platform.name} has that exists already, and this one is made for the study"
    return Finding(at("network"), f"network {shown(network)} {what}", f"known: {listed(known)}")


def _options(
    spec: DeploymentSpec, network: str, chosen: NetworkOffer, at: Callable[..., Path]
) -> Iterator[Finding]:
    for name, value in spec.network_options.items():
        place = at("network_options", name)
        if name not in chosen.options:
            yield unknown(place, "option of this network", name, chosen.options)
        elif chosen.options[name] and value not in chosen.options[name]:
            given = "that is a mapping" if isinstance(value, Mapping) else shown(str(value))
            what = f"network {shown(network)} has no {name} {given}"
            yield Finding(place, what, hint(str(value), chosen.options[name]))


def _misfits(
    spec: DeploymentSpec, chosen: NetworkOffer, at: Callable[..., Path]
) -> Iterator[Finding]:
    """What the network itself finds; of an endpoint that it has not, all is said elsewhere."""
    endpoint = spec.endpoint or next(iter(chosen.endpoints))
    if endpoint in chosen.endpoints:
        for keys, what, advice in chosen.check(spec, endpoint):
            yield Finding(at(*keys), what, advice)


def _mappings(
    spec: DeploymentSpec, network: str, chosen: NetworkOffer, at: Callable[..., Path]
) -> Iterator[Finding]:
    """Options that no driver can be given, where one takes any."""
    for name, value in spec.network_options.items() if chosen.takes_options else ():
        if isinstance(value, Mapping):
            what = f"option {shown(name)} of network {shown(network)} must be text or a number"
            yield Finding(at("network_options", name), f"{what}, not a mapping")


def _values(spec: DeploymentSpec, chosen: NetworkOffer) -> Mapping[str, object]:
    """What the deployment asks for of every option that has a default or is given."""
    defaults = {name: known[0] for name, known in chosen.options.items() if known}
    return {**defaults, **spec.network_options}


def _told(asked: Mapping[str, object]) -> str:
    return ", ".join(
        f"`{key}: {label(value) if isinstance(value, Mapping) else value}`"
        for key, value in asked.items()
    )
