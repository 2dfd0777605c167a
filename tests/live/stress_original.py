"""cassandra-stress 3.11.2 itself, of the archive of Cassandra on Maven Central."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from engine.stress import home
from own_loopback import OwnLoopback

_TOTAL = re.compile(r"^Total (partitions|errors) +: +([\d,]+)", re.MULTILINE)
_OPTIONS = ("-Xmx256M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-ea")


@dataclass(frozen=True)
class Told:
    """What cassandra-stress says of a load."""

    rows: int
    """Rows that it wrote or read."""
    errors: int
    said: str
    """All that it wrote."""


class Stress:
    """cassandra-stress on a loopback, with the Java of a tree of software that is there."""

    def __init__(self, loopback: OwnLoopback) -> None:
        self._inside = loopback.inside
        self._java = f"{loopback.prefix}/bin/java"
        self._jars = f"{home()}/lib/*:{home()}/tools/lib/stress.jar"

    def __call__(self, *words: str) -> Told:
        """Have it make a load on the server at 127.0.0.1; all of its operations are made once."""
        argv = self._inside(
            *(self._java, *_OPTIONS, "-cp", self._jars, "org.apache.cassandra.stress.Stress"),
            *(*words, "-errors", "retries=0", "ignore", "-node", "127.0.0.1"),
        )
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        said = done.stdout + done.stderr
        totals = {name: int(text.replace(",", "")) for name, text in _TOTAL.findall(said)}
        assert {"partitions", "errors"} <= totals.keys(), said
        return Told(totals["partitions"], totals["errors"], said)
