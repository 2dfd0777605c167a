"""Docker contexts that lead to daemons of ours, for the `docker` command of whoever looks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from dunnage.contracts.docker import Daemon


def write_contexts(directory: Path, daemons: Mapping[str, Daemon]) -> None:
    """Write a context by each name, as `docker context` does, below a directory of their own.

    `DOCKER_CONFIG=DIRECTORY docker --context NAME` then speaks to that daemon. The format is that
    of the command line's `cli/context/store`.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    (directory / "config.json").write_text("{}\n")
    for name, daemon in daemons.items():
        meta = directory / "contexts" / "meta" / sha256(name.encode()).hexdigest()
        meta.mkdir(parents=True, exist_ok=True)
        docker = {"Host": daemon.url, "SkipTLSVerify": False}
        described = {"Name": name, "Metadata": {}, "Endpoints": {"docker": docker}}
        (meta / "meta.json").write_text(json.dumps(described) + "\n")
