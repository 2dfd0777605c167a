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
from own_servers import OwnServers, measured, told

from dunnage.model.layout import Software
from dunnage.model.record import Measurement

PORT = mongo_java.PORT
JAVA, REAL = "mongo-java-server", "mongod"
_SPARING = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_FRONT = Path(__file__).with_name("tls_front.py")
_SECONDS = 60


def real() -> str | None:
    """The path of a `mongod`: the one on PATH, else the one that `DUNNAGE_MONGOD` names."""
    return shutil.which(REAL) or os.environ.get("DUNNAGE_MONGOD")


class MongoPlace(OwnServers):
    """A loopback with a server of one kind."""

    def __init__(self, directory: Path, kind: str, *options: str) -> None:
        super().__init__(directory, Software("cassandra", "5.0"))  # for its Java
        self.kind, self.options = kind, options

    def start(self) -> subprocess.Popen[bytes]:
        """Start the server, and wait until it answers."""
        home = self.directory / f"start-{len(self.servers) + 1}"
        home.mkdir()
        log = home / "log"
        with log.open("wb") as output:
            server = subprocess.Popen(
                self.inside(*self._argv(home)), stdout=output, stderr=subprocess.STDOUT, cwd=home
            )
        self.servers.append(server)
        deadline = time.monotonic() + _SECONDS
        while self.ask({"ping": 1, "$db": "admin"}) is None:
            assert server.poll() is None, log.read_text(errors="replace")[-2000:]
            assert time.monotonic() < deadline, log.read_text(errors="replace")[-2000:]
            time.sleep(0.1)
        return server

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

    def load_and_result(self, content: dict[str, Any]) -> tuple[Measurement, dict[str, Any]]:
        """Make the load of a plan: what it measured, and its result as the engine wrote it."""
        out = self.made(content)
        return measured(out), told(out)

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
        """Kill the server that was started last."""
        self.servers[-1].kill()
        self.servers[-1].wait()
