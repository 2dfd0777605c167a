"""YCSB as a client: its core with an adapter of ours, or a whole one that a variable names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .asked import Place
from .contenders import Run
from .core import Core, CoreAsked
from .own_server import OwnServer
from .peers import Found, Peer
from .shape import FIELD_BYTES, FIELDS
from .shots import Ran, Shot, ran
from .ycsb_core import VERSION, YcsbCore, ycsb_core

YCSB = Peer("YCSB", "DUNNAGE_PEER_YCSB")
_COUNT = re.compile(r"^\[([\w-]+)\], Return=(\w+), (\d+)$", re.MULTILINE)
_MILLISECONDS = re.compile(r"^\[OVERALL\], RunTime\(ms\), (\d+)$", re.MULTILINE)
_OPERATIONS = frozenset({"INSERT", "READ", "UPDATE"})
_PROPORTIONS: Mapping[Core, tuple[str, str]] = {
    Core.LOAD: ("0", "0"),
    Core.A: ("0.5", "0.5"),
    Core.C: ("1", "0"),
}


@dataclass(frozen=True)
class Binding:
    """How YCSB reaches a database."""

    name: str
    """That of a whole YCSB, such as `mongodb`."""
    adapter: str
    """The class in `ycsb/` by which the core alone does."""
    properties: Mapping[str, str]


def note(program: Path | None, binding: Binding) -> str:
    """Which YCSB it is, for a reader."""
    if program is not None:
        return f"YCSB is the one that {YCSB.variable} names, with its binding `{binding.name}`."
    return (
        f"YCSB is its core {VERSION}, with the driver of its own binding by an adapter of ours "
        f"(`bench/engine/ycsb/{binding.adapter}.java`)."
    )


def properties(asked: CoreAsked) -> dict[str, str]:
    """What YCSB and its port in Go are told."""
    read, update = _PROPORTIONS[asked.core]
    return {
        "recordcount": str(asked.records),
        "operationcount": str(asked.operations),
        "threadcount": str(asked.clients),
        "fieldcount": str(FIELDS),
        "fieldlength": str(FIELD_BYTES),
        "requestdistribution": "uniform",
        "insertorder": "ordered",
        "readallfields": "true",
        "writeallfields": "true",
        "readproportion": read,
        "updateproportion": update,
        "scanproportion": "0",
        "insertproportion": "0",
    }


def ycsb_run(peers: Found, own: OwnServer, prefix: str, binding: Binding) -> Run | None:
    """How a YCSB carries out what it is asked: the whole one that a variable names, else the core
    with an adapter. `prefix`: where the tree of `JAVA` is, for those inside the server's place."""

    def with_adapter() -> Run:
        return partial(by_core, ycsb_core(own.inside, prefix), binding, own.place)

    def whole(program: Path) -> Run:
        return partial(by_program, program, binding, own.place)

    return peers.offered(YCSB, with_adapter, whole)


def by_core(core: YcsbCore, binding: Binding, place: Place, asked: CoreAsked) -> Shot:
    """One run of the core with an adapter. Raises SystemExit when an operation failed."""
    phase = "-load" if asked.core is Core.LOAD else "-t"
    words = (phase, "-db", binding.adapter, "-threads", str(asked.clients))
    given = _given({"workload": "site.ycsb.workloads.CoreWorkload", **properties(asked)}, binding)
    return shot(ran(core.argv("site.ycsb.Client", *words, *given), place.processor))


def by_program(program: Path, binding: Binding, place: Place, asked: CoreAsked) -> Shot:
    """One run of a whole YCSB. Raises SystemExit when an operation failed."""
    phase = "load" if asked.core is Core.LOAD else "run"
    words = (phase, binding.name, "-threads", str(asked.clients))
    given = _given({"workload": "site.ycsb.workloads.CoreWorkload", **properties(asked)}, binding)
    return shot(ran([*place.enter, str(program), *words, *given], place.processor))


def shot(done: Ran) -> Shot:
    """By what it says. Raises SystemExit when it tells of a failure, or no time."""
    counts = [each for each in _COUNT.findall(done.said) if each[0] in _OPERATIONS]
    failed = [f"{name} {end}: {count}" for name, end, count in counts if end != "OK"]
    if failed:
        raise SystemExit(f"operations of YCSB failed: {', '.join(failed)}")
    seconds = _MILLISECONDS.search(done.said)
    if seconds is None:
        raise SystemExit(f"YCSB tells no time: {done.said.strip()[-200:]}")
    return Shot(sum(int(count) for *_, count in counts), int(seconds[1]) / 1000, done.cpu)


def _given(told: Mapping[str, str], binding: Binding) -> Sequence[str]:
    every = {**told, **binding.properties}
    return [word for name, text in every.items() for word in ("-p", f"{name}={text}")]
