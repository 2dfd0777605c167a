"""cassandra-stress 3.11.2 itself, of the archive of Cassandra on Maven Central."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from jars import jars
from own_loopback import OwnLoopback

from dunnage.software.cache import Cache

_ARCHIVE = "org.apache.cassandra:apache-cassandra:3.11.2:tar.gz:bin"
_KNOWN = Path(__file__).parent / "apache-cassandra-3.11.2.sha256"
_NEEDED = re.compile(r"^[^/]+/(lib/[^/]+\.jar|tools/lib/stress\.jar)$")
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
        self._jars = ":".join(sorted(map(str, _unpacked().glob("**/*.jar"))))

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


def _unpacked() -> Path:
    """The directory with the jars of the archive that cassandra-stress needs."""
    entry = f"cassandra-stress-jars-3.11.2-{hashlib.sha256(_KNOWN.read_bytes()).hexdigest()[:16]}"

    def make(directory: Path) -> str:
        (archive,) = jars(_ARCHIVE, _KNOWN).iterdir()
        with tarfile.open(archive) as opened:
            needed = [each for each in opened if _NEEDED.match(each.name)]
            opened.extractall(directory, needed, filter="data")
        return entry

    return Cache().obtain(entry, make)
