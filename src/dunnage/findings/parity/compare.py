"""Whether two stays ran the same thing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from dunnage.findings.parity.factors import IMAGE, unequal, word
from dunnage.findings.parity.mask import Mask
from dunnage.model.parity import Aspect, Cause, Difference
from dunnage.model.path import HopKind, NetworkPath
from dunnage.model.process import ProcessFacts, UnseenProcess
from dunnage.model.record import StayRecord
from dunnage.model.unknown import UNREAD

_CONTAINMENT = frozenset(
    {"capabilities", "seccomp", "no_new_privileges", "oom_score_adj", "control_group", "cpu_weight"}
)
"""Limits that come with a container and that a native process cannot be given as well. Weights are
among them because an orchestrator weighs the groups that it puts its containers into."""
_LIMITED_BY: Mapping[str, str] = {
    **dict.fromkeys(("memory_limit", "cpu_quota", "cpu_period", "pids_limit"), "limits"),
    **dict.fromkeys(("cpus_allowed", "cpuset_cpus", "cpuset_mems"), "hosts"),
}
"""Limit → the factor that brings it about."""
_HOST_NAME = "HOSTNAME"
"""Variable in which a container is told its name: another one in every container."""
_SURROUNDINGS = re.compile(rf"{_HOST_NAME}|KUBERNETES_(SERVICE|PORT)(_\w+)?")
"""Variables by which Docker and Kubernetes tell every container where it is."""
_OF_SOFTWARE = frozenset({Aspect.VARIABLE, Aspect.FACT})
"""What an image that a user named may bring along as it does its programs: the variables of its own
environment, and what another build tells of itself, such as its version."""
_PROGRAM = "0"
"""Place of the argument that names the program, which such an image has on its own PATH."""
_ENVIRONMENT, _JAVA = "environment", "virtual machine"
"""What may be absent besides files. Only a virtual machine that answers tells its jars."""
_DIGITS = 12
"""Of a hash, enough to tell two apart."""
_PATH = frozenset({"network", "network_options", "endpoint", "peers"})
"""Factors that change addresses."""
_LEADING = ("network", "network_options", "endpoint", "platform", "client")
"""Factors that lead packets another way, the one that tells most first."""
_PASSED = (HopKind.TRANSLATION, HopKind.PROXY, HopKind.TUNNEL, HopKind.BRIDGE, HopKind.VETH)
"""What a packet may pass beside the devices and wires that hosts have anyway."""
_DATABASE = frozenset({"database"})
"""The factor that changes what runs and how it is told to."""
Sides = tuple[str | None, str | None]
"""The baseline's value and the deployment's."""


def compare(a: StayRecord, b: StayRecord, factors: Collection[str]) -> tuple[Difference, ...]:
    """Compare two stays member by member, modulo their addresses, ports and own names.

    `factors` are keys of a deployment, such as `platform`. What cannot be avoided says so, and what
    could not be read is unknown, also where neither side could be. Of processes that a host does
    not see it says so, as of networks that nobody could read back; what servers say is compared all
    the same.
    """
    pair = _Pair(Mask.of_both(a, b), frozenset(factors))
    differences = (
        *_members(a, b, pair),
        *_facts(a, b, pair),
        *_networks(a, b),
        *_ways(a, b, pair),
        *_client(a, b, pair),
    )
    return tuple(sorted(_of_all_roles(differences), key=_rank))


def _of_all_roles(differences: Iterable[Difference]) -> Iterator[Difference]:
    """The same difference of several roles becomes one that names them all."""
    alike: dict[Difference, dict[str, None]] = {}
    for difference in differences:
        roles = alike.setdefault(difference.model_copy(update={"roles": ()}), {})
        roles |= dict.fromkeys(difference.roles)
    for difference, roles in alike.items():
        yield difference.model_copy(update={"roles": tuple(roles)})


def _rank(difference: Difference) -> tuple[str, ...]:
    return (
        ", ".join(difference.roles),
        difference.aspect,
        difference.name,
        difference.baseline or "",
        difference.deployment or "",
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
        sides: Sides,
        by: Collection[str | None] = (),
        comes_with: str = "",
    ) -> Difference:
        """A difference that nothing under study explains, unless a factor is named that is."""
        cause = Cause.FACTOR if self.factors.intersection(by) else Cause.UNDECLARED
        return Difference(
            roles=(role,) if role else (),
            aspect=aspect,
            name=name,
            baseline=sides[0],
            deployment=sides[1],
            cause=Cause.INHERENT if comes_with else cause,
            comes_with=comes_with,
        )

    def software(self, role: str, aspect: Aspect, name: str, sides: Sides) -> Difference:
        """A difference of what runs: the database's, or that of an image that a user named."""
        image = IMAGE if IMAGE in self.factors and "database" not in self.factors else ""
        return self.difference(role, aspect, name, sides, _DATABASE, image)


def _members(a: StayRecord, b: StayRecord, pair: _Pair) -> Iterator[Difference]:
    left, right = _by_name(a), _by_name(b)
    for member in sorted(left.keys() ^ right.keys()):
        sides = (member, None) if member in left else (None, member)
        yield pair.difference("", Aspect.MEMBER, member, sides, _DATABASE)
    for member in sorted(left.keys() & right.keys()):
        one, other = left[member], right[member]
        if isinstance(one, ProcessFacts) and isinstance(other, ProcessFacts):
            yield from _process(one, other, pair)
        else:
            yield _not_seen(one, other)


def _by_name(stay: StayRecord) -> dict[str, ProcessFacts | UnseenProcess]:
    every: Iterable[ProcessFacts | UnseenProcess] = (*stay.processes, *stay.unseen)
    return {each.member: each for each in every}


def _not_seen(*sides: ProcessFacts | UnseenProcess) -> Difference:
    """What stands for all that two processes may differ in, where one of them is not seen."""
    one, other = (side.reason if isinstance(side, UnseenProcess) else None for side in sides)
    return Difference(
        roles=(sides[0].role,),
        aspect=Aspect.PROCESS,
        baseline=one,
        deployment=other,
        cause=Cause.UNSEEN,
    )


def _process(a: ProcessFacts, b: ProcessFacts, pair: _Pair) -> Iterator[Difference]:
    who, (mask, other) = a.role, pair.masks
    absent = mask.paths(a.absent), other.paths(b.absent)
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
    elif mask.text(a.executable) != other.text(b.executable):
        yield pair.software(who, Aspect.PLACE, "", (a.executable, b.executable))
    for path, (one, two) in unequal(mask.paths(a.mapped), other.paths(b.mapped)):
        if not (path.endswith(".jar") and _JAVA in unknown):
            digests = (one and one[:_DIGITS], two and two[:_DIGITS])
            yield pair.software(who, Aspect.MAPPED, path, digests)
    argv = ({f"{i}": word for i, word in enumerate(process.argv)} for process in (a, b))
    for place, words in unequal(*argv):
        yield from _line(who, Aspect.ARGUMENT, place, words, pair)
    if _ENVIRONMENT not in unknown:
        yield from _environment(who, a, b, pair)
    for path, texts in unequal(mask.paths(a.files), other.paths(b.files)):
        if path not in unknown:
            yield from _lines(who, path.rsplit("/", 1)[-1], texts, pair)
    yield from _kernel(who, a, b, pair)
    if _JAVA not in unknown:
        # Java derives its heap, its collector and their threads from limits where nobody sets them.
        for key, values in unequal(mask.texts(a.runtime), other.texts(b.runtime)):
            yield pair.difference(who, Aspect.RUNTIME, key, values, {"database", "limits"})
    if a.user != b.user:
        yield pair.difference(who, Aspect.USER, "", (a.user, b.user))


def _environment(who: str, a: ProcessFacts, b: ProcessFacts, pair: _Pair) -> Iterator[Difference]:
    variables = (_variables(mask, p) for mask, p in zip(pair.masks, (a, b), strict=True))
    for key, sides in unequal(*variables):
        if _SURROUNDINGS.fullmatch(key) and "platform" in pair.factors:
            yield pair.difference(who, Aspect.VARIABLE, key, sides, comes_with="platform")
        else:
            yield from _line(who, Aspect.VARIABLE, key, sides, pair)


def _variables(mask: Mask, process: ProcessFacts) -> dict[str, str]:
    named = {_HOST_NAME: "<name>"} if _HOST_NAME in process.environment else {}
    return mask.texts(process.environment) | named


def _kernel(who: str, a: ProcessFacts, b: ProcessFacts, pair: _Pair) -> Iterator[Difference]:
    container = "platform" if "platform" in pair.factors else ""
    network = "network" if pair.factors & {"network", "platform"} else ""
    for key, sides in unequal(a.limits, b.limits):
        comes_with = container if key in _CONTAINMENT else ""
        yield pair.difference(who, Aspect.LIMIT, key, sides, {_LIMITED_BY.get(key)}, comes_with)
    for key, sides in unequal(_mount(a.data), _mount(b.data)):
        yield pair.difference(who, Aspect.DATA, key, sides, {"storage"})
    for key, sides in unequal(a.kernel, b.kernel):
        comes_with = network if key.startswith("net.") else ""
        yield pair.difference(who, Aspect.KERNEL, key, sides, {"hosts"}, comes_with)


def _facts(a: StayRecord, b: StayRecord, pair: _Pair) -> Iterator[Difference]:
    facts = ({key: word(value) for key, value in stay.facts.items()} for stay in (a, b))
    for key, sides in unequal(*facts):
        yield from _line("server", Aspect.FACT, key, sides, pair)


def _networks(a: StayRecord, b: StayRecord) -> Iterator[Difference]:
    """What stands for all that two networks may differ in, where one of them was not read."""
    one, other = (stay.network.get(UNREAD) for stay in (a, b))
    if one is not None or other is not None:
        yield Difference(
            roles=(),
            aspect=Aspect.NETWORK,
            baseline=one,
            deployment=other,
            cause=Cause.UNSEEN,
        )


def _ways(a: StayRecord, b: StayRecord, pair: _Pair) -> Iterator[Difference]:
    """What requests pass on their way, where both sides know all ways to members.

    An endpoint or a network may bring along more than it is called: addresses of services lead
    through the tunnel of the pods' network, and ports of hosts do not.
    """
    if any(not stay.paths or any(path.unknown for path in stay.paths) for stay in (a, b)):
        return
    one, other = (_passed(stay.paths) for stay in (a, b))
    if one != other:
        leading = next((key for key in _LEADING if key in pair.factors), "")
        yield pair.difference("", Aspect.WAY, "", (one, other), comes_with=leading)


def _passed(paths: Iterable[NetworkPath]) -> str:
    kinds = {hop.kind for path in paths for hop in path.hops}
    return ", ".join(kind for kind in _PASSED if kind in kinds) or "nothing else"


def _client(a: StayRecord, b: StayRecord, pair: _Pair) -> Iterator[Difference]:
    """What the load generator is: in a container of Docker's it is another thing than in a pod."""
    if a.client is None or b.client is None or a.client is b.client:
        return
    container = "platform" if "platform" in pair.factors else ""
    sides = a.client.value, b.client.value
    if "client" in pair.factors:
        yield pair.difference("", Aspect.CLIENT, "", sides, {"client"})
    else:
        yield pair.difference("", Aspect.CLIENT, "", sides, comes_with=container)


def _lines(who: str, name: str, texts: Sides, pair: _Pair) -> Iterator[Difference]:
    """Differing lines of two files. A line told twice, or elsewhere, counts: the last one wins.

    So does how a line ends, and whether the last one does. A side without the file has one line
    that reads `-`, as the other's name of a file is a difference by itself.
    """
    left, right = ((text if text is not None else "-").split("\n") for text in texts)
    mask, other = pair.masks
    matcher = SequenceMatcher(
        None, [*map(mask.text, left)], [*map(other.text, right)], autojunk=False
    )
    for tag, start, end, begin, until in matcher.get_opcodes():
        if tag != "equal":
            for sides in zip_longest(left[start:end], right[begin:until]):
                yield from _line(who, Aspect.CONFIGURATION, name, sides, pair)


def _line(who: str, aspect: Aspect, name: str, sides: Sides, pair: _Pair) -> Iterator[Difference]:
    """Two lines that are the same but for the stays' own names are no difference."""
    one, other = sides
    addresses = False
    if one is not None and other is not None:
        if pair.masks[0].text(one) == pair.masks[1].text(other):
            return
        bare = pair.masks[0].without_addresses(one), pair.masks[1].without_addresses(other)
        addresses = one != other and bare[0] == bare[1]
    if not addresses and (aspect in _OF_SOFTWARE or (aspect, name) == (Aspect.ARGUMENT, _PROGRAM)):
        yield pair.software(who, aspect, name, sides)
    elif not addresses:
        yield pair.difference(who, aspect, name, sides, _DATABASE)
    elif "platform" in pair.factors and not pair.factors & _PATH:
        yield pair.difference(who, aspect, name, sides, comes_with="platform")
    else:
        yield pair.difference(who, aspect, name, sides, _PATH)


def _mount(data: Mapping[str, str]) -> dict[str, str]:
    """File system and sorted options; `source` names the stay's own directory, so it is left."""
    known = {key: value for key, value in data.items() if key != "source"}
    if "mount_options" in known:
        known["mount_options"] = ",".join(sorted(known["mount_options"].split(",")))
    return known
