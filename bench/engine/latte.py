"""latte, a client of Cassandra in Rust whose workload is a script: `records.rn`."""

from __future__ import annotations

import json
from pathlib import Path

from .asked import Place
from .cassandra_server import Table
from .core import Core, CoreAsked
from .crates import built
from .peers import Peer
from .shape import RECORDS
from .shots import Shot, ran

CRATE, VERSION = "latte-cli", "0.29.0"
LATTE = Peer("latte", "DUNNAGE_PEER_LATTE")
TABLE = Table("latte", "records")
NOTE = (
    "latte writes and reads a table of its own by `bench/engine/records.rn`. Its fields are bytes, "
    "which it makes at less cost than text. The engine has the server leave out what answers to a "
    "prepared statement say of their columns each time; latte does not."
)
_SCRIPT = Path(__file__).with_name("records.rn")
_FUNCTIONS = {Core.LOAD: "insert", Core.A: "read:0.5,update:0.5", Core.C: "read"}


def latte_of_crates() -> Path:
    """The one that crates.io offers. Raises UnavailableError when it cannot be built."""
    return built(CRATE, VERSION, LATTE.name)


def latte(program: Path, place: Place, scratch: Path, asked: CoreAsked) -> Shot:
    """One run of it on one thread with one connection. Raises SystemExit when an operation
    failed."""
    out = scratch / "latte.json"
    # It writes a log into its directory.
    argv = [*place.enter, "env", f"--chdir={scratch}", str(program), *words(asked, out)]
    done = ran(argv, place.processor)
    operations, seconds = told(out.read_text())
    return Shot(operations, seconds, done.cpu)


def words(asked: CoreAsked, out: Path) -> list[str]:
    """What it is told."""
    return [
        *("run", str(_SCRIPT), "127.0.0.1"),
        *("--functions", _FUNCTIONS[asked.core], "-P", f"records={RECORDS}"),
        *("--duration", str(asked.operations), "--warmup", "0"),
        *("--threads", "1", "--connections", "1", "--concurrency", str(asked.clients)),
        *("--consistency", "ONE", "--quiet", "--output", str(out)),
    ]


def told(text: str) -> tuple[int, float]:
    """Operations and seconds by its report. Raises SystemExit when an operation failed."""
    result = json.loads(text)["result"]
    if result["error_count"]:
        raise SystemExit(f"operations of {LATTE.name} failed: {result['errors']}")
    return result["request_count"], result["elapsed_time_s"]
