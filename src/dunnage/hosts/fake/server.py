"""The fake database's server and its command line, as programs of fake hosts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dunnage.hosts.fake.host import Task
from dunnage.hosts.fake.world import Call, Server

RECORD_BYTES = 1000


def serve(call: Call) -> Task:
    """`fake-server --config FILE`: listen, after a look at the configuration servers if a router.

    It holds the records that the file named in its configuration tells of, if there is one.

    It speaks of itself on its log and ends with 1 when its address is taken, or its configuration
    servers have not been initiated.
    """
    try:
        config = json.loads(call.read(call.option("--config")))
    except (FileNotFoundError, ValueError) as error:
        return call.fail(f"cannot read configuration: {error}")
    listen = config["listen"]
    taken = call.world.servers.get(listen)
    if taken is not None and taken.process.alive:
        return call.fail(f"cannot listen on {listen}: address already in use")
    for address in config.get("configuration", ()):
        try:
            keeper = call.world.connect(address)
        except OSError as error:
            return call.fail(f"configuration server: {error}")
        if keeper.state != "primary":
            return call.fail(f"configuration server {address} is {keeper.state}")
    member = config["member"]
    ready = member not in call.world.unready
    network = call.streams.env.get("DUNNAGE_FAKE_NETWORK", "plain")
    call.world.servers[listen] = Server(
        member, call.process, config, network, ready, records=_found(call, config)
    )
    call.streams.say(f"{member}: listening on {listen}\n")
    call.streams.say(
        f"{member}: ready\n" if ready else f"{member}: replaying a journal without end\n"
    )

    def gone() -> None:
        call.world.servers.pop(listen, None)

    def finish() -> int:
        call.streams.say(f"{member}: stopped\n")
        return 0

    return Task(finish=finish, seconds=None, heeds=True, gone=gone)


def _found(call: Call, config: Mapping[str, Any]) -> int:
    """How many records the file tells of that it was started with; none without a file."""
    try:
        return int(call.read(config["records"]))
    except FileNotFoundError:
        return 0


def ask(call: Call) -> Task:
    """`fake-cli VERB ADDRESS …`: one question to a server; 1 when it does not answer."""
    verb = _VERBS.get(call.argv[1] if len(call.argv) > 2 else "")
    if verb is None:
        return call.fail(f"usage: fake-cli {'|'.join(_VERBS)} ADDRESS …", 2)
    try:
        server = call.world.connect(call.argv[2])
        answer = verb(call, server, call.argv[3:])
    except OSError as error:
        return call.fail(str(error))
    call.streams.say(answer + "\n")
    return Task()


def _ping(_call: Call, server: Server, _rest: tuple[str, ...]) -> str:
    return "PONG" if server.ready else "LOADING"


def _initiate(call: Call, server: Server, rest: tuple[str, ...]) -> str:
    name, *members = rest
    for address in members:
        call.world.connect(address)
    if server.replica_set is not None:
        return "already initiated"
    for address in members:
        member = call.world.connect(address)
        member.replica_set = name
        member.formed = call.world.clock.now()
    return "ok"


def _status(_call: Call, server: Server, _rest: tuple[str, ...]) -> str:
    return server.state


def _add_shard(call: Call, server: Server, rest: tuple[str, ...]) -> str:
    name, *members = rest
    for address in members:
        if call.world.connect(address).state != "primary":
            return f"{address} has no primary yet"
    server.shards[name] = tuple(members)
    return "ok"


def _facts(_call: Call, server: Server, _rest: tuple[str, ...]) -> str:
    config = server.config
    return json.dumps(
        {
            "version": config["version"],
            "role": config["role"],
            "topology": config["topology"],
            "consistency": config["consistency"],
            "shards": len(server.shards),
            **config["settings"],
        }
    )


def _count(_call: Call, server: Server, _rest: tuple[str, ...]) -> str:
    return json.dumps({"records": server.records, "data_size": server.records * RECORD_BYTES})


def _empty(_call: Call, server: Server, _rest: tuple[str, ...]) -> str:
    server.records = 0
    return "ok"


def _save(_call: Call, server: Server, _rest: tuple[str, ...]) -> str:
    server.process.host.put(server.config["records"], str(server.records).encode())
    return "ok"


_VERBS: Mapping[str, Callable[[Call, Server, tuple[str, ...]], str]] = {
    "ping": _ping,
    "initiate": _initiate,
    "status": _status,
    "add-shard": _add_shard,
    "facts": _facts,
    "count": _count,
    "empty": _empty,
    "save": _save,
}
