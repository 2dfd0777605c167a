"""Servers of MongoDB's wire protocol on a loopback of their own: a real `mongod` where there is
one, and a Java server that keeps records in memory, which is good to test a driver with and no
database to measure."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine import mongo_java, mongo_wire
from own_loopback import OwnLoopback

from dunnage.generators.engine import EngineGenerator
from dunnage.model.layout import Software
from dunnage.model.record import Measurement
from dunnage.software.engine import engine_path

PORT = mongo_java.PORT
JAVA, REAL = "mongo-java-server", "mongod"
_SPARING = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_FRONT = Path(__file__).with_name("tls_front.py")
_SECONDS = 60


def real() -> str | None:
    """The path of a `mongod`: the one on PATH, else the one that `DUNNAGE_MONGOD` names."""
    return shutil.which(REAL) or os.environ.get("DUNNAGE_MONGOD")


class MongoPlace:
    """A loopback with a server of one kind."""

    def __init__(self, directory: Path, kind: str, *options: str) -> None:
        self.directory, self.kind, self.options = directory, kind, options
        self.loads = self.starts = 0
        self.loopback = OwnLoopback(Software("cassandra", "5.0"))  # for its Java
        self.inside = self.loopback.inside
        self.server: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server, and wait until it answers."""
        self.starts += 1
        home = self.directory / f"start-{self.starts}"
        home.mkdir()
        log = home / "log"
        with log.open("wb") as told:
            self.server = subprocess.Popen(
                self.inside(*self._argv(home)), stdout=told, stderr=subprocess.STDOUT, cwd=home
            )
        deadline = time.monotonic() + _SECONDS
        while self.ask({"ping": 1, "$db": "admin"}) is None:
            assert self.server.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < deadline, log.read_text(errors="replace")[-2000:]
            time.sleep(0.1)
        return self.server

    def _argv(self, home: Path) -> tuple[str, ...]:
        if self.kind == REAL:
            program = real()
            assert program is not None
            own = ("--port", str(PORT), "--bind_ip", "127.0.0.1", "--dbpath", str(home))
            return (program, *own, *self.options)
        return mongo_java.argv(self.loopback.prefix, "-Xms256M", "-Xmx256M", *_SPARING)

    def ask(self, command: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a command; None while nobody answers."""
        argv = self.inside(sys.executable, mongo_wire.__file__, str(PORT), json.dumps(command))
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            return None
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def records(self, database: str, **asked: Any) -> list[dict[str, Any]]:
        """Documents of the collection, by what a `find` takes."""
        answer = self.ask({"find": "usertable", **asked, "$db": database})
        assert answer is not None
        found: list[dict[str, Any]] = answer["cursor"]["firstBatch"]
        return found

    def load(self, content: dict[str, Any]) -> tuple[Measurement, dict[str, Any]]:
        """Make the load of a plan: what it measured, and its result as the engine wrote it."""
        out, done = self._engine(content)
        assert done.returncode == 0, done.stderr
        left = {name: (out / name).read_bytes() for name in ("result.json", "latency.hlog")}
        return EngineGenerator().parse([left]), json.loads(left["result.json"])

    def refused(self, content: dict[str, Any]) -> str:
        """What the engine says of a load that it cannot make."""
        _, done = self._engine(content)
        assert done.returncode == 1, done.stderr
        return done.stderr

    def _engine(self, content: dict[str, Any]) -> tuple[Path, subprocess.CompletedProcess[str]]:
        self.loads += 1
        out = self.directory / f"load-{self.loads}"
        out.mkdir()
        (out / "plan.json").write_text(json.dumps(content))
        argv = self.inside(
            str(engine_path()), "load", "--plan", str(out / "plan.json"), "--out", str(out)
        )
        return out, subprocess.run(argv, check=False, capture_output=True, text=True)

    @contextmanager
    def in_front(self, port: int, certificate: Path, key: Path) -> Iterator[None]:
        """Something at a port that speaks TLS, and passes on what is said to the server."""
        words = (sys.executable, str(_FRONT), str(port), str(PORT), str(certificate), str(key))
        front = subprocess.Popen(self.inside(*words), stdout=subprocess.PIPE, text=True)
        try:
            assert front.stdout is not None
            assert front.stdout.readline() == "ready\n"
            yield
        finally:
            front.kill()
            front.wait()

    def stop(self) -> None:
        """Kill the server."""
        if self.server is not None:
            self.server.kill()
            self.server.wait()

    def close(self) -> None:
        """Take all of it down."""
        self.stop()
        self.loopback.close()
