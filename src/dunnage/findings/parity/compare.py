"""Whether two deployments ran the same thing, and which factors they were meant to differ in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from itertools import zip_longest

from dunnage.findings.parity.mask import Mask
from dunnage.model.deployment import Deployment
from dunnage.model.parity import Aspect, Cause, Difference, Factor
from dunnage.model.record import ProcessFacts, StayRecord

_NAMES = frozenset({"name", "title", "twin_of", "parts"})
"""What a deployment and its parts are called is not a factor."""
_CONTAINMENT = frozenset(
    {
        "capabilities",
        "seccomp",
        "no_new_privileges",
        "oom_score_adj",
        "control_group",
        "cpu_weight",
    }
)
"""Limits that come with a container and that a native process cannot be given as well. Weights are
among them because an orchestrator weighs the groups that it puts its containers into."""
_LIMITED_BY: Mapping[str, str] = {
    **dict.fromkeys(("memory_limit", "cpu_quota", "cpu_period", "pids_limit"), "limits"),
    **dict.fromkeys(("cpus_allowed", "cpuset_cpus", "cpuset_mems"), "hosts"),
}
"""Limit → the factor that brings it about."""
IMAGE = "image"
"""Stands among the factors where containers run an image that a user named: other software."""
_HOST_NAME = "HOSTNAME"
"""Variable in which a container is told its name: another one in every container."""
_SURROUNDINGS = re.compile(rf"{_HOST_NAME}|KUBERNETES_(SERVICE|PORT)(_\w+)?")
"""Variables by which Docker and Kubernetes tell every container where it is."""
_ENVIRONMENT, _JAVA = "environment", "virtual machine"
"""What may be absent besides files. Only a virtual machine that answers tells its jars."""
_DIGITS = 12
"""Of a hash, enough to tell two apart."""
_PATH = frozenset({"network", "endpoint", "peers"})
"""Factors that change addresses."""


def factors(a: Deployment, b: Deployment) -> tuple[Factor, ...]:
    """Factors in which two deployments differ, `a` as the baseline; twins have none."""
    left, right = _flat(a), _flat(b)
    return tuple(
        Factor(key=key, baseline=_text(left.get(key)), deployment=_text(right.get(key)))
        for key in sorted(left.keys() | right.keys())
        if left.get(key) != right.get(key)
    )


def keys(differing: Iterable[Factor]) -> frozenset[str]:
    """What `factors` are of: `limits.cpus` is of the factor `limits`."""
    return frozenset(factor.name for factor in differing)


def compare(a: StayRecord, b: StayRecord, factors: Collection[str]) -> tuple[Difference, ...]:
    """Compare two stays member by member, modulo their addresses and their own names.

    `factors` are keys of a deployment, such as `platform`. What cannot be avoided says so, and what
    could not be read is unknown, also where neither side could be.
    """
    masks = Mask.of(a), Mask.of(b)
    known = frozenset(factors)
    found = (*_members(a, b, masks, known), *_facts(a, b, masks, known))
    return tuple(sorted(_of_all_roles(found), key=_rank))


def _of_all_roles(found: Iterable[Difference]) -> Iterator[Difference]:
    """The same difference of several roles becomes one that names them all."""
    alike: dict[Difference, list[str]] = {}
    for difference in found:
        roles = alike.setdefault(difference.model_copy(update={"roles": ()}), [])
        roles += (role for role in difference.roles if role not in roles)
    for difference, roles in alike.items():
        yield difference.model_copy(update={"roles": tuple(roles)})


def _rank(found: Difference) -> tuple[str, ...]:
    return (
        ", ".join(found.roles),
        found.aspect,
        found.name,
        found.baseline or "",
        found.deployment or "",
    )


@dataclass(frozen=True)
class _Pair:
    """Two stays that are compared, and by what they may differ."""

    masks: tuple[Mask, Mask]
    factors: frozenset[str]

    def difference(
        self,
        role: str,
        aspect: Aspect,
        name: str,
        sides: tuple[str | None, str | None],
        *,
        explained: bool = False,
        comes_with: str = "",
    ) -> Difference:
        """A difference that nothing under study explains, unless something is named."""
        cause = Cause.FACTOR if explained else Cause.UNDECLARED
        return Difference(
            roles=(role,) if role else (),
            aspect=aspect,
            name=name,
            baseline=sides[0],
            deployment=sides[1],
            cause=Cause.INHERENT if comes_with else cause,
            comes_with=comes_with,
        )

    def software(
        self, role: str, aspect: Aspect, name: str, sides: tuple[str | None, str | None]
    ) -> Difference:
        """A difference of what runs: the database's, or that of an image that a user named."""
        image = IMAGE in self.factors and "database" not in self.factors
        return self.difference(
            role,
            aspect,
            name,
            sides,
            explained="database" in self.factors,
            comes_with=IMAGE if image else "",
        )


def _members(
    a: StayRecord, b: StayRecord, masks: tuple[Mask, Mask], factors: frozenset[str]
) -> Iterator[Difference]:
    pair = _Pair(masks, factors)
    left = {process.member: process for process in a.processes}
    right = {process.member: process for process in b.processes}
    for member in sorted(left.keys() ^ right.keys()):
        sides = (member, None) if member in left else (None, member)
        yield pair.difference("", Aspect.MEMBER, member, sides, explained="database" in factors)
    for member in sorted(left.keys() & right.keys()):
        yield from _process(left[member], right[member], pair)


def _process(a: ProcessFacts, b: ProcessFacts, pair: _Pair) -> Iterator[Difference]:
    who, masks = a.role, pair.masks
    absent = tuple(_own(mask, p.absent) for mask, p in zip(masks, (a, b), strict=True))
    unknown = absent[0].keys() | absent[1].keys()
    for what in sorted(unknown):
        yield Difference(
            roles=(who,),
            aspect=Aspect.UNREAD,
            name=what,
            baseline=absent[0].get(what),
            deployment=absent[1].get(what),
            cause=Cause.UNKNOWN,
        )
    if a.executable_sha256 != b.executable_sha256:
        files = tuple(f"{p.executable} {p.executable_sha256[:_DIGITS]}" for p in (a, b))
        yield pair.software(who, Aspect.EXECUTABLE, "", (files[0], files[1]))
    elif masks[0].text(a.executable) != masks[1].text(b.executable):
        yield pair.software(who, Aspect.PLACE, "", (a.executable, b.executable))
    mapped = tuple(_own(mask, p.mapped) for mask, p in zip(masks, (a, b), strict=True))
    for path, one, other in _unequal(*mapped):
        if not (path.endswith(".jar") and _JAVA in unknown):
            digests = (one and one[:_DIGITS], other and other[:_DIGITS])
            yield pair.software(who, Aspect.MAPPED, path, digests)
    argv = tuple({f"{i}": word for i, word in enumerate(process.argv)} for process in (a, b))
    yield from _texts(who, Aspect.ARGUMENT, argv, pair)
    if _ENVIRONMENT not in unknown:
        yield from _environment(who, a, b, pair)
    files_of = tuple(_own(mask, p.files) for mask, p in zip(masks, (a, b), strict=True))
    for path, one, other in _unequal(*files_of):
        if path not in unknown:
            yield from _lines(who, path.rsplit("/", 1)[-1], one, other, pair)
    yield from _kernel(who, a, b, pair)
    if _JAVA not in unknown:
        yield from _runtime(who, a, b, pair)
    if a.user != b.user:
        yield pair.difference(who, Aspect.USER, "", (a.user, b.user))


def _own(mask: Mask, paths: Mapping[str, str]) -> dict[str, str]:
    """Path → value, with the stay's own names taken out of the paths."""
    return {mask.text(path): value for path, value in paths.items()}


def _environment(who: str, a: ProcessFacts, b: ProcessFacts, pair: _Pair) -> Iterator[Difference]:
    """An image that a user named may bring variables along, as it does software."""
    sides = tuple(_variables(mask, p) for mask, p in zip(pair.masks, (a, b), strict=True))
    for key, one, other in _unequal(*sides):
        if _SURROUNDINGS.fullmatch(key) and "platform" in pair.factors:
            yield pair.difference(who, Aspect.VARIABLE, key, (one, other), comes_with="platform")
        elif IMAGE in pair.factors:
            yield pair.software(who, Aspect.VARIABLE, key, (one, other))
        else:
            yield from _line(who, Aspect.VARIABLE, key, (one, other), pair)


def _variables(mask: Mask, process: ProcessFacts) -> dict[str, str]:
    return {
        key: "<name>" if key == _HOST_NAME else mask.text(value)
        for key, value in process.environment.items()
    }


def _kernel(who: str, a: ProcessFacts, b: ProcessFacts, pair: _Pair) -> Iterator[Difference]:
    factors = pair.factors
    for key, *sides in _unequal(a.limits, b.limits):
        inherent = key in _CONTAINMENT and "platform" in factors
        yield pair.difference(
            who,
            Aspect.LIMIT,
            key,
            (sides[0], sides[1]),
            explained=_LIMITED_BY.get(key) in factors,
            comes_with="platform" if inherent else "",
        )
    for key, one, other in _unequal(*(_mount(process.data) for process in (a, b))):
        yield pair.difference(who, Aspect.DATA, key, (one, other), explained="storage" in factors)
    for key, one, other in _unequal(a.kernel, b.kernel):
        inherent = key.startswith("net.") and bool(factors & {"network", "platform"})
        yield pair.difference(
            who,
            Aspect.KERNEL,
            key,
            (one, other),
            explained="hosts" in factors,
            comes_with="network" if inherent else "",
        )


def _runtime(who: str, a: ProcessFacts, b: ProcessFacts, pair: _Pair) -> Iterator[Difference]:
    """Java derives its heap, its collector and their threads from limits where nobody sets them."""
    texts = (
        {key: mask.text(value) for key, value in process.runtime.items()}
        for mask, process in zip(pair.masks, (a, b), strict=True)
    )
    explained = bool(pair.factors & {"database", "limits"})
    for key, one, other in _unequal(*texts):
        yield pair.difference(who, Aspect.RUNTIME, key, (one, other), explained=explained)


def _facts(
    a: StayRecord, b: StayRecord, masks: tuple[Mask, Mask], factors: frozenset[str]
) -> Iterator[Difference]:
    sides = tuple({key: _word(value) for key, value in stay.facts.items()} for stay in (a, b))
    yield from _texts("server", Aspect.FACT, sides, _Pair(masks, factors))


def _texts(
    who: str, aspect: Aspect, sides: tuple[Mapping[str, str], ...], pair: _Pair
) -> Iterator[Difference]:
    for key, one, other in _unequal(sides[0], sides[1]):
        yield from _line(who, aspect, key, (one, other), pair)


def _lines(
    who: str, name: str, one: str | None, other: str | None, pair: _Pair
) -> Iterator[Difference]:
    """Differing lines of two files. A line told twice, or elsewhere, counts: the last one wins.

    So does how a line ends, and whether the last one does. A side without the file has one line
    that reads `-`, as the other's name of a file is a difference by itself.
    """
    left, right = ((text if text is not None else "-").split("\n") for text in (one, other))
    masks = pair.masks
    matcher = SequenceMatcher(
        None,
        [masks[0].text(line) for line in left],
        [masks[1].text(line) for line in right],
        autojunk=False,
    )
    for tag, start, end, begin, until in matcher.get_opcodes():
        if tag != "equal":
            for sides in zip_longest(left[start:end], right[begin:until]):
                yield from _line(who, Aspect.CONFIGURATION, name, sides, pair)


def _line(
    who: str, aspect: Aspect, name: str, sides: tuple[str | None, str | None], pair: _Pair
) -> Iterator[Difference]:
    """Two lines that are the same but for the stays' own names are no difference."""
    one, other = sides
    addresses = False
    if one is not None and other is not None:
        if pair.masks[0].text(one) == pair.masks[1].text(other):
            return
        bare = pair.masks[0].without_addresses(one), pair.masks[1].without_addresses(other)
        addresses = one != other and bare[0] == bare[1]
    path = bool(pair.factors & _PATH)
    if not addresses:
        yield pair.difference(who, aspect, name, sides, explained="database" in pair.factors)
    elif not path and "platform" in pair.factors:
        yield pair.difference(who, aspect, name, sides, comes_with="platform")
    else:
        yield pair.difference(who, aspect, name, sides, explained=path)


def _mount(data: Mapping[str, str]) -> dict[str, str]:
    """File system and sorted options; `source` names the stay's own directory, so it is left."""
    known = {key: value for key, value in data.items() if key != "source"}
    if "mount_options" in known:
        known["mount_options"] = ",".join(sorted(known["mount_options"].split(",")))
    return known


def _unequal(
    a: Mapping[str, str], b: Mapping[str, str]
) -> Iterator[tuple[str, str | None, str | None]]:
    for key in sorted(a.keys() | b.keys()):
        if a.get(key) != b.get(key):
            yield key, a.get(key), b.get(key)


def _flat(deployment: Deployment) -> dict[str, object]:
    flat: dict[str, object] = {}

    def walk(prefix: str, value: object) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                walk(f"{prefix}.{key}", inner)
        else:
            flat[prefix] = value

    for key, value in deployment.model_dump(mode="json").items():
        if key not in _NAMES:
            walk(key, value)
    return flat


def _text(value: object) -> str | None:
    return None if value is None else _word(value)


def _word(value: object) -> str:
    if value is None:
        return "-"
    return str(value.value if isinstance(value, Enum) else value)
