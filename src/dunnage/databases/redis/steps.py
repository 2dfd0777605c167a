"""Commands to run beside members, and when each is done."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from dunnage.databases.redis import answers
from dunnage.model.layout import Place, Step

SLOTS = 16384
COPYING = 300.0
"""Seconds for a replica to get all records of its primary, which may have started with many."""

# A member's id is drawn when it starts, so a replica looks up who serves the first slot of the
# primary it is to follow, and does so by itself.
_FOLLOW = (
    "for _, range in ipairs(redis.call('CLUSTER', 'SLOTS')) do "
    "if range[1] == tonumber(ARGV[1]) then "
    "return redis.call('CLUSTER', 'REPLICATE', range[3][3]) end end "
    "return 'no member serves that slot yet'"
)


def command(place: Place, *words: str) -> tuple[str, ...]:
    """A command for the member at `place`, run beside it."""
    redis = place.ports["redis"]
    address = ("-h", redis.beside, "-p", str(redis.bind.port))
    return (f"{place.prefix}/bin/redis-cli", *address, *words)


def slots(primary: int, primaries: int) -> tuple[int, int]:
    """First and last hash slot of a primary, split as evenly as `redis-cli --cluster` does."""
    share = SLOTS / primaries
    last = SLOTS - 1 if primary == primaries - 1 else round((primary + 1) * share) - 1
    return round(primary * share), last


def follow(place: Place) -> Step:
    """Wait until a replica has its primary's data."""
    argv = command(place, "INFO", "replication")
    return Step("follow", place.member, argv, deadline=COPYING, done=answers.follows)


def catch_up(place: Place, replicas: int) -> Step:
    """Wait until all replicas of a primary have its writes."""
    argv = command(place, "INFO", "replication")
    return Step("catch up", place.member, argv, done=partial(answers.caught_up, replicas=replicas))


def rest(place: Place) -> Step:
    """Wait until a member saves and loads nothing."""
    return Step("rest", place.member, command(place, "INFO", "persistence"), done=answers.at_rest)


def flush(place: Place) -> Step:
    """Remove all data of a primary, and of its replicas by it."""
    argv = command(place, "FLUSHALL", "SYNC")
    return Step("flush", place.member, argv, deadline=120.0, done=_says_ok)


def save(place: Place) -> Step:
    """Write all records of a member to its file."""
    return Step("save", place.member, command(place, "SAVE"), deadline=300.0, done=_says_ok)


def size(place: Place, *, cluster: bool) -> Step:
    """Ask for the size of the data, of all primaries in a cluster."""
    argv = command(place, "INFO", "memory")
    if cluster:
        program, _, host, _, port, *words = argv
        argv = (program, "--cluster", "call", f"{host}:{port}", *words, "--cluster-only-masters")
    return Step("data size", place.member, argv, done=_has_size, parse=answers.size_facts)


def ask(place: Place, *, cluster: bool) -> tuple[Step, ...]:
    """Ask a member for its facts, again when the answer was lost on its way out of a container."""
    member = place.member
    sections = command(place, "INFO", "server", "replication", "memory")
    steps = [
        Step(
            "server",
            member,
            sections,
            done=lambda text: "mem_allocator:" in text,
            parse=partial(answers.server_facts, member),
        ),
        Step(
            "settings",
            member,
            command(place, "CONFIG", "GET", *answers.CONFIG),
            done=lambda text: bool(text.strip()),
            parse=partial(answers.config_facts, member),
        ),
    ]
    if cluster:
        nodes = command(place, "CLUSTER", "NODES")
        steps.append(Step("cluster", member, nodes, parse=partial(answers.cluster_facts, member)))
    return tuple(steps)


def form(places: Sequence[Place], primaries: int) -> tuple[Step, ...]:
    """Form a cluster: slots to the first members, then meet, follow and wait for agreement.

    Slots come before meeting, so that nobody ever learns of an owner who is to change. Replica
    `i` follows the primary one further than its own number, which lives on another host.
    """
    first, *others = places
    steps = []
    for i, place in enumerate(places[:primaries]):
        low, high = (str(slot) for slot in slots(i, primaries))
        steps += [
            Step(
                "epoch",
                place.member,
                command(place, "CLUSTER", "SET-CONFIG-EPOCH", str(i + 1)),
                done=partial(_says_ok, refusal="already non-zero"),
            ),
            Step(
                "slots",
                place.member,
                command(place, "CLUSTER", "ADDSLOTSRANGE", low, high),
                done=partial(_says_ok, refusal="already busy"),
            ),
        ]
    for place in others:
        redis, bus = place.ports["redis"].numeric_peer, place.ports["bus"].peer
        where = (redis.host, str(redis.port), str(bus.port))
        argv = command(first, "CLUSTER", "MEET", *where)
        steps.append(Step(f"meet {place.member}", first.member, argv, done=_says_ok))
    for i, place in enumerate(places[primaries:]):
        start = slots((i + 1) % primaries, primaries)[0]
        argv = command(place, "EVAL", _FOLLOW, "0", str(start))
        steps.append(Step("replicate", place.member, argv, deadline=60.0, done=_says_ok))
    steps += [follow(place) for place in places[primaries:]]
    return (*steps, *(step for place in places for step in _agree(place, places, primaries)))


def _agree(place: Place, places: Sequence[Place], primaries: int) -> tuple[Step, Step]:
    """Wait until a member sees the whole cluster as it is meant to be."""
    replicas = len(places) - primaries
    seen = partial(answers.agreed, primaries=primaries, replicas=replicas)
    whole = partial(answers.formed, members=len(places))
    nodes, info = command(place, "CLUSTER", "NODES"), command(place, "CLUSTER", "INFO")
    return (
        Step("agree", place.member, nodes, deadline=60.0, done=seen),
        Step("whole", place.member, info, deadline=60.0, done=whole),
    )


def _says_ok(output: str, refusal: str | None = None) -> bool:
    """Done, or refused as done before: a step may be tried again after its answer was lost."""
    return output.strip() == "OK" or (refusal is not None and refusal in output)


def _has_size(output: str) -> bool:
    return bool(answers.size_facts(output))
