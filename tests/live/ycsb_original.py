"""YCSB's own core on a loopback, with the adapters in `ycsb/` and those of the benchmark."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.ycsb_core import ADAPTERS, JAVA, ycsb_core
from own_loopback import OwnLoopback

from dunnage.model.choices import Phase

_SOURCES = (*sorted((Path(__file__).parent / "ycsb").glob("*.java")), *ADAPTERS)
_OPTIONS = ("-Xmx256M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_COUNT = re.compile(r"^\[([\w-]+)\], Return=(\w+), (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    """What YCSB's client says of a load."""

    counts: Mapping[str, Mapping[str, int]]
    """By operation and by how it ended, such as `OK`. `VERIFY` counts records that were compared
    with what was written."""
    said: str
    """All that it wrote."""


class Original:
    """YCSB's core on a loopback."""

    def __init__(self, loopback: OwnLoopback) -> None:
        self.inside = loopback.inside
        self._core = ycsb_core(loopback.inside(), loopback.bring(JAVA), _SOURCES)

    def operations(self, directory: Path) -> None:
        """Have YCSB's core workload do what property files say; see `ycsb/Operations.java`."""
        self._run("Operations", str(directory))

    def client(self, phase: Phase, adapter: str, properties: Mapping[str, str]) -> Told:
        """Have YCSB's client make a load by an adapter, which is a class in `ycsb/`."""
        words = [word for name, text in properties.items() for word in ("-p", f"{name}={text}")]
        asked = ("-load" if phase is Phase.LOAD else "-t", "-db", adapter)
        said = self._run("site.ycsb.Client", *asked, *words)
        counts: dict[str, dict[str, int]] = {}
        for operation, end, count in _COUNT.findall(said):
            counts.setdefault(operation, {})[end] = int(count)
        return Told(counts, said)

    def _run(self, main: str, *words: str) -> str:
        """All that a Java program writes; it must end well."""
        argv = self._core.argv(main, *words, options=_OPTIONS)
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr
