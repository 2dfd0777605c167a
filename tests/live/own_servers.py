"""Servers on a loopback of their own, and the engine that drives them there."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from own_loopback import OwnLoopback

from dunnage.generators.engine import LOG, RESULT, EngineGenerator
from dunnage.model.layout import Software
from dunnage.model.record import Measurement
from dunnage.software.engine import engine_path

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
"""All variables that servers and clients have, unless they are given some."""


class OwnServers:
    """A loopback with servers of one tree, and a directory for what they and loads leave."""

    def __init__(self, directory: Path, software: Software) -> None:
        self.directory = directory
        self.loopback = OwnLoopback(software)
        self.inside, self.prefix = self.loopback.inside, self.loopback.prefix
        self.servers: list[subprocess.Popen[bytes]] = []
        self._loads = count(1)

    def engine(
        self, content: Mapping[str, Any], **variables: str
    ) -> tuple[Path, subprocess.Popen[str]]:
        """An engine that has begun a plan, and the directory that it writes into."""
        out = self.directory / f"load-{next(self._loads)}"
        out.mkdir()
        (out / "plan.json").write_text(json.dumps(content))
        plan_and_out = ("--plan", str(out / "plan.json"), "--out", str(out))
        argv = self.inside(str(engine_path()), "load", *plan_and_out)
        pipe, environment = subprocess.PIPE, ENVIRONMENT | variables
        return out, subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, env=environment)

    def made(self, content: Mapping[str, Any], **variables: str) -> Path:
        """The directory of a load that ended well. `variables` are the engine's environment."""
        out, engine = self.engine(content, **variables)
        _, said = engine.communicate()
        assert engine.returncode == 0, said
        return out

    def result(self, content: Mapping[str, Any], **variables: str) -> dict[str, Any]:
        """What the engine says of a load."""
        return told(self.made(content, **variables))

    def refused(self, content: Mapping[str, Any], **variables: str) -> str:
        """What the engine says of a load that it cannot make."""
        _, engine = self.engine(content, **variables)
        _, said = engine.communicate()
        assert engine.returncode == 1, said
        return said

    def load(self, content: Mapping[str, Any]) -> Measurement:
        """What a load measured."""
        return measured(self.made(content))

    def typed(self, *words: str, **variables: str) -> tuple[Path, str]:
        """The directory of a load that is typed and ends well, and what was said of it."""
        out = self.directory / f"load-{next(self._loads)}"
        done = subprocess.run(
            self.inside(str(engine_path()), *words, "--out", str(out)),
            check=False,
            capture_output=True,
            text=True,
            env=ENVIRONMENT | variables,
        )
        assert done.returncode == 0, done.stderr
        return out, done.stderr

    def close(self) -> None:
        """Take all of it down."""
        for server in self.servers:
            server.kill()
            server.wait()
        self.loopback.close()


def told(out: Path) -> dict[str, Any]:
    """What the engine says of the load that left a directory."""
    result: dict[str, Any] = json.loads((out / RESULT).read_text())
    return result


def measured(out: Path) -> Measurement:
    """What the load measured that left a directory."""
    return EngineGenerator().parse([{name: (out / name).read_bytes() for name in (RESULT, LOG)}])


def errors(of: Measurement) -> dict[str, int]:
    """How often each kind of error came, in all operations together."""
    return dict(of.operations["all"].errors)


def summed_up(out: Path) -> dict[str, Any]:
    """What `drive` left of a load, in short."""
    found: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return found
