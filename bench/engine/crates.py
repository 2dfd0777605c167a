"""Programs of crates.io that others made, built once and kept in the product's cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from dunnage.errors import UnavailableError
from dunnage.software.cache import Cache

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s()'\"<>\]`]+", re.IGNORECASE)


def built(crate: str, version: str, program: str) -> Path:
    """A program of a crate at one version, built from its own lock file: minutes the first time.

    Raises UnavailableError with cargo's last words when that fails.
    """
    entry = f"crate-{crate}-{version}"

    def make(directory: Path) -> str:
        argv = ["cargo", "install", crate, "--version", version, "--locked", "--quiet"]
        argv += ["--root", str(directory), "--target-dir", str(directory / "target")]
        # In a directory without this repository's settings, and for this machine.
        own = {name: text for name, text in os.environ.items() if name != "CARGO_BUILD_TARGET"}
        done = subprocess.run(
            argv, cwd=directory, env=own, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line.startswith("error")]
            raise UnavailableError(
                f"cargo cannot build `{crate}`: {_ADDRESS.sub('…', ' '.join(said))}",
                where=crate,
                hint=f"cargo install {crate} --version {version} --locked",
            )
        shutil.rmtree(directory / "target")
        return entry

    return Cache().obtain(entry, make) / "bin" / program
