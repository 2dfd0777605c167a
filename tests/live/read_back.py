"""One database that YCSB's own client and the engine load and read in turns.

Every value follows from its key and its field (`dataintegrity`), so whoever reads compares what it
finds with what must have been written.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ycsb_original import Original, Told

from dunnage.model.choices import Phase
from dunnage.software.engine import engine_path

RECORDS, OPERATIONS = 300, 800
_WORKLOAD = {
    "workload": "site.ycsb.workloads.CoreWorkload",
    "recordcount": str(RECORDS),
    "operationcount": str(OPERATIONS),
    "dataintegrity": "true",
    "readproportion": "0.6",
    "updateproportion": "0.2",
    "scanproportion": "0.2",
    "maxscanlength": "20",
}


@dataclass(frozen=True)
class ReadBack:
    """An empty database, and how either reaches it."""

    original: Original
    address: str
    """As `drive` takes it."""
    adapter: str
    """The class by which YCSB reaches it."""
    properties: Mapping[str, str]
    """Those of the database, for both."""
    directory: Path
    """An empty one."""
    content: Callable[[], Any]
    """Every record as the server tells it, in a form that can be compared."""

    def by_ycsb(self, phase: Phase, **changes: str) -> Told:
        """Have YCSB's client make a load, with some properties changed."""
        properties = {**_WORKLOAD, **self.properties, **changes}
        return self.original.client(phase, self.adapter, properties)

    def by_engine(self, phase: Phase) -> dict[str, Any]:
        """Have the engine make a load, and return its result."""
        properties = self.directory / "properties"
        given = {**_WORKLOAD, **self.properties}
        properties.write_text("".join(f"{name}={text}\n" for name, text in given.items()))
        out = self.directory / phase.value
        words = ["drive", self.address, phase.value, "-P", str(properties), "--out", str(out)]
        words += ["--threads", "4", "--timeout", "40s"]
        argv = self.original.inside(str(engine_path()), *words)
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads((out / "result.json").read_text())
        return result


def ycsb_finds_what_the_engine_loaded(database: ReadBack) -> None:
    """Assert that YCSB's client finds every record that it asks for, as it must be."""
    loaded = database.by_engine(Phase.LOAD)
    assert (loaded["errors"], loaded["operations"]) == ({}, {"insert": RECORDS})
    told = database.by_ycsb(Phase.RUN)
    ends = {operation: dict(counts) for operation, counts in told.counts.items()}
    assert all(set(counts) == {"OK"} for counts in ends.values()), told.said
    assert ends["VERIFY"] == ends["READ"], told.said
    asked = sum(ends[operation]["OK"] for operation in ("READ", "UPDATE", "SCAN"))
    assert asked == OPERATIONS, told.said


def the_engine_finds_what_ycsb_loaded(database: ReadBack, other: ReadBack) -> None:
    """Assert that the engine finds every record that it asks for, as it must be, and that what
    YCSB's client loads is what the engine loads into another database."""
    told = database.by_ycsb(Phase.LOAD)
    assert told.counts["INSERT"] == {"OK": RECORDS}, told.said
    other.by_engine(Phase.LOAD)
    assert database.content() == other.content()
    run = database.by_engine(Phase.RUN)
    assert run["errors"] == {}
    assert run["verified"] == run["operations"]["read"] > 0
    assert sum(run["operations"].values()) == OPERATIONS
