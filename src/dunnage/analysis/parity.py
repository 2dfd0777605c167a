"""Whether two deployments ran the same thing, and which factors they were meant to differ in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from enum import Enum, StrEnum
from itertools import zip_longest

from dunnage.analysis.mask import Mask
from dunnage.model.record import ProcessFacts, StayRecord
from dunnage.model.study import Deployment
from dunnage.model.value import Value

_NAMES = frozenset({"name", "title", "twin_of"})
"""What a deployment is called is not a factor."""
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
_PATH = frozenset({"network", "endpoint", "peers"})
"""Factors that change addresses."""


class Cause(StrEnum):
    """Where a difference comes from."""

    FACTOR = "factor"
    """A factor under study brings it about."""
    INHERENT = "inherent"
    """It comes with the platform or the network under study and cannot be avoided."""
    UNDECLARED = "undeclared"
    """Nothing under study explains it: the two did not run the same thing."""
    UNKNOWN = "unknown"
    """It could not be read on one side or on both, so nobody knows whether they are the same."""


class Difference(Value):
    """One difference between two stays, as a sentence with its cause."""

    text: str
    cause: Cause


def factors(a: Deployment, b: Deployment) -> tuple[str, ...]:
    """Factors in which two deployments differ, as `key: a → b`; twins have none."""
    left, right = _flat(a), _flat(b)
    return tuple(
        f"{key}: {_word(left.get(key))} → {_word(right.get(key))}"
        for key in sorted(left.keys() | right.keys())
        if left.get(key) != right.get(key)
    )


def keys(differing: Collection[str]) -> frozenset[str]:
    """First words of `factors`: `limits.cpus: - → 2` is of the factor `limits`."""
    return frozenset(factor.split(":")[0].split(".")[0] for factor in differing)


def compare(a: StayRecord, b: StayRecord, factors: Collection[str]) -> tuple[Difference, ...]:
    """Compare two stays member by member, modulo their addresses and their own names.

    `factors` are keys of a deployment, such as `platform`. What cannot be avoided says so, and what
    could not be read is unknown, also where neither side could be.
    """
    masks = Mask.of(a), Mask.of(b)
    known = frozenset(factors)
    found = (*_members(a, b, masks, known), *_facts(a, b, masks, known))
    return tuple(sorted(_told_once(found), key=lambda difference: difference.text))


def _told_once(found: Iterable[Difference]) -> Iterator[Difference]:
    """The same difference of several roles becomes one that names them all."""
    roles: dict[tuple[str, Cause], list[str]] = {}
    for difference in found:
        who, _, what = difference.text.partition(": ")
        named = roles.setdefault((what, difference.cause), [])
        if who not in named:
            named.append(who)
    for (what, cause), named in roles.items():
        yield Difference(text=f"{', '.join(named)}: {what}" if what else named[0], cause=cause)


def _members(
    a: StayRecord, b: StayRecord, masks: tuple[Mask, Mask], factors: frozenset[str]
) -> Iterator[Difference]:
    left = {process.member: process for process in a.processes}
    right = {process.member: process for process in b.processes}
    for member in sorted(left.keys() ^ right.keys()):
        side = a.deployment if member in left else b.deployment
        yield _difference(f"member {member} is there in {side} only", "database" in factors)
    for member in sorted(left.keys() & right.keys()):
        yield from _process(left[member], right[member], masks, factors)


def _process(
    a: ProcessFacts, b: ProcessFacts, masks: tuple[Mask, Mask], factors: frozenset[str]
) -> Iterator[Difference]:
    who = a.role
    absent = tuple(_own(mask, p.absent) for mask, p in zip(masks, (a, b), strict=True))
    unknown = absent[0].keys() | absent[1].keys()
    for what in sorted(unknown):
        reasons = dict.fromkeys(side[what] for side in absent if what in side)
        yield _unknown(f"{who}: {_file(what)}: {'; '.join(reasons)}")
    if a.executable_sha256 != b.executable_sha256:
        yield _software(
            f"{who}: the executable is another: {a.executable} {a.executable_sha256[:12]}, "
            f"{b.executable} {b.executable_sha256[:12]}",
            factors,
        )
    elif masks[0].text(a.executable) != masks[1].text(b.executable):
        yield _software(
            f"{who}: the executable lies elsewhere: {a.executable}, {b.executable}", factors
        )
    mapped = tuple(_own(mask, p.mapped) for mask, p in zip(masks, (a, b), strict=True))
    for path, one, other in _unequal(*mapped):
        if not (path.endswith(".jar") and _JAVA in unknown):
            yield _software(f"{who}: mapped file {path}: {one[:12]}, {other[:12]}", factors)
    argv = tuple(
        {f"argument {i}": word for i, word in enumerate(process.argv)} for process in (a, b)
    )
    yield from _texts(who, argv, masks, factors)
    if _ENVIRONMENT not in unknown:
        yield from _environment(who, a, b, masks, factors)
    files = tuple(_own(mask, p.files) for mask, p in zip(masks, (a, b), strict=True))
    for path, one, other in _unequal(*files):
        if path not in unknown:
            yield from _lines(who, _file(path), one, other, masks, factors)
    yield from _kernel(who, a, b, factors)
    if _JAVA not in unknown:
        yield from _runtime(who, a, b, masks, factors)
    if a.user != b.user:
        yield _difference(f"{who}: runs as {a.user}, {b.user}", False)


def _own(mask: Mask, paths: Mapping[str, str]) -> dict[str, str]:
    """Path → value, with the stay's own names taken out of the paths."""
    return {mask.text(path): value for path, value in paths.items()}


def _file(path: str) -> str:
    """A configuration file by its name; what is no path stays as it is."""
    return f"configuration {path.rsplit('/', 1)[-1]}" if "/" in path else path


def _environment(
    who: str, a: ProcessFacts, b: ProcessFacts, masks: tuple[Mask, Mask], factors: frozenset[str]
) -> Iterator[Difference]:
    """An image that a user named may bring variables along, as it does software."""
    sides = tuple(_variables(mask, p) for mask, p in zip(masks, (a, b), strict=True))
    for key, one, other in _unequal(*sides):
        name = f"environment variable {key}"
        text = f"{who}: {name}: `{one}`, `{other}`"
        if _SURROUNDINGS.fullmatch(key) and "platform" in factors:
            yield _inherent(text, "platform")
        elif IMAGE in factors:
            yield _software(text, factors)
        else:
            yield from _line(who, name, one, other, masks, factors)


def _variables(mask: Mask, process: ProcessFacts) -> dict[str, str]:
    return {
        key: "<name>" if key == _HOST_NAME else mask.text(value)
        for key, value in process.environment.items()
    }


def _kernel(
    who: str, a: ProcessFacts, b: ProcessFacts, factors: frozenset[str]
) -> Iterator[Difference]:
    for key, one, other in _unequal(a.limits, b.limits):
        text = f"{who}: limit {key}: {one}, {other}"
        if key in _CONTAINMENT and "platform" in factors:
            yield _inherent(text, "platform")
        else:
            yield _difference(text, _LIMITED_BY.get(key) in factors)
    for key, one, other in _unequal(*(_mount(process.data) for process in (a, b))):
        yield _difference(f"{who}: data directory, {key}: {one}, {other}", "storage" in factors)
    for key, one, other in _unequal(a.kernel, b.kernel):
        text = f"{who}: kernel setting {key}: {one}, {other}"
        if key.startswith("net.") and factors & {"network", "platform"}:
            yield _inherent(text, "network")
        else:
            yield _difference(text, "hosts" in factors)


def _runtime(
    who: str, a: ProcessFacts, b: ProcessFacts, masks: tuple[Mask, Mask], factors: frozenset[str]
) -> Iterator[Difference]:
    """Java derives its heap, its collector and their threads from limits where nobody sets them."""
    texts = (
        {key: mask.text(value) for key, value in process.runtime.items()}
        for mask, process in zip(masks, (a, b), strict=True)
    )
    for key, one, other in _unequal(*texts):
        text = f"{who}: virtual machine, {key}: {one}, {other}"
        yield _difference(text, bool(factors & {"database", "limits"}))


def _facts(
    a: StayRecord, b: StayRecord, masks: tuple[Mask, Mask], factors: frozenset[str]
) -> Iterator[Difference]:
    sides = tuple({key: _word(value) for key, value in stay.facts.items()} for stay in (a, b))
    yield from _texts("server", sides, masks, factors)


def _texts(
    who: str,
    sides: tuple[Mapping[str, str], Mapping[str, str]] | tuple[dict[str, str], ...],
    masks: tuple[Mask, Mask],
    factors: frozenset[str],
) -> Iterator[Difference]:
    for key, one, other in _unequal(sides[0], sides[1]):
        yield from _line(who, key, one, other, masks, factors)


def _lines(
    who: str, name: str, one: str, other: str, masks: tuple[Mask, Mask], factors: frozenset[str]
) -> Iterator[Difference]:
    """Differing lines of two files. A line told twice, or elsewhere, counts: the last one wins.

    So does how a line ends, and whether the last one does.
    """
    left, right = one.split("\n"), other.split("\n")
    matcher = SequenceMatcher(
        None,
        [masks[0].text(line) for line in left],
        [masks[1].text(line) for line in right],
        autojunk=False,
    )
    for tag, start, end, begin, until in matcher.get_opcodes():
        if tag != "equal":
            for a, b in zip_longest(left[start:end], right[begin:until], fillvalue="-"):
                yield from _line(who, name, a, b, masks, factors)


def _line(
    who: str, name: str, one: str, other: str, masks: tuple[Mask, Mask], factors: frozenset[str]
) -> Iterator[Difference]:
    """`one` may equal `other`: a word `-`, and none, which is written so too."""
    if one != other and masks[0].text(one) == masks[1].text(other):
        return
    text = f"{who}: {name}: `{one}`, `{other}`"
    if one != other and masks[0].without_addresses(one) == masks[1].without_addresses(other):
        path = factors & _PATH
        if path:
            yield _difference(text, True)
        elif "platform" in factors:
            yield _inherent(text, "platform")
        else:
            yield _difference(text, False)
    else:
        yield _difference(text, "database" in factors)


def _mount(data: Mapping[str, str]) -> dict[str, str]:
    """File system and sorted options; `source` names the stay's own directory, so it is left."""
    known = {key: value for key, value in data.items() if key != "source"}
    if "mount_options" in known:
        known["mount_options"] = ",".join(sorted(known["mount_options"].split(",")))
    return known


def _unequal(a: Mapping[str, str], b: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for key in sorted(a.keys() | b.keys()):
        if a.get(key) != b.get(key):
            yield key, a.get(key, "-"), b.get(key, "-")


def _difference(text: str, explained: bool) -> Difference:
    return Difference(text=text, cause=Cause.FACTOR if explained else Cause.UNDECLARED)


def _software(text: str, factors: frozenset[str]) -> Difference:
    image = IMAGE in factors and "database" not in factors
    return _inherent(text, IMAGE) if image else _difference(text, "database" in factors)


def _inherent(text: str, source: str) -> Difference:
    return Difference(
        text=f"{text} (comes with the {source}, cannot be avoided)", cause=Cause.INHERENT
    )


def _unknown(text: str) -> Difference:
    return Difference(text=f"{text} (unknown, cannot be compared)", cause=Cause.UNKNOWN)


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


def _word(value: object) -> str:
    if value is None:
        return "-"
    return str(value.value if isinstance(value, Enum) else value)
