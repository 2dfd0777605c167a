"""go-ycsb, a port of YCSB to Go, as a client."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from .asked import Place
from .core import Core, CoreAsked
from .peers import Peer
from .shots import Ran, Shot, ran
from .ycsb_client import properties

GO_YCSB = Peer("go-ycsb", "DUNNAGE_PEER_GO_YCSB")
_LINE = re.compile(r"^(\w+)\s+- Takes\(s\): ([\d.]+), Count: (\d+),", re.MULTILINE)


def go_ycsb(
    program: Path, database: str, own: Mapping[str, str], place: Place, asked: CoreAsked
) -> Shot:
    """One run of it on a database, with properties of its own. Raises SystemExit when an operation
    failed."""
    phase = "load" if asked.core is Core.LOAD else "run"
    told = {"workload": "core", "silence": "true", **properties(asked), **own}
    given = [word for name, text in told.items() for word in ("-p", f"{name}={text}")]
    return shot(ran([*place.enter, str(program), phase, database, *given], place.processor))


def shot(done: Ran) -> Shot:
    """By its last word on each kind of operation. Raises SystemExit when it tells of a failure, or
    nothing."""
    last = {name: (float(seconds), int(count)) for name, seconds, count in _LINE.findall(done.said)}
    failed = sorted(name for name in last if name.endswith("_ERROR"))
    if failed:
        raise SystemExit(f"operations of {GO_YCSB.name} failed: {', '.join(failed)}")
    kinds = [last[name] for name in ("INSERT", "READ", "UPDATE") if name in last]
    if not kinds:
        raise SystemExit(f"{GO_YCSB.name} tells nothing: {done.said.strip()[-200:]}")
    return Shot(sum(count for _, count in kinds), max(seconds for seconds, _ in kinds), done.cpu)
