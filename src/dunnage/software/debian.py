"""Debian's packages, downloaded and unpacked below a directory; nothing is installed."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dunnage.errors import UnavailableError
from dunnage.model.offer import Support
from dunnage.software.program import last_words, run

_DOWNLOAD_SECONDS = 600
_UNPACK_SECONDS = 120
_ASKED_SECONDS = 30


@dataclass(frozen=True)
class Package:
    """A downloaded package: `version` and `sha256` say exactly what it is."""

    name: str
    version: str
    sha256: str
    file: Path

    @property
    def upstream(self) -> str:
        """The version as its authors count: without Debian's epoch and revision."""
        without_epoch = self.version.rpartition(":")[2]
        return without_epoch.rpartition("-")[0] or without_epoch

    @property
    def identity(self) -> str:
        """Version and hash, for facts and keys."""
        return f"{self.version} sha256:{self.sha256}"


def support() -> Support:
    """Whether this machine has the programs that fetch and unpack Debian's packages."""
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            return Support(
                met=False,
                reason=f"`{program}` is not on PATH, and software comes from Debian's packages",
                hint="cat /etc/os-release  # run on Debian 12, which has both",
            )
    return Support(met=True)


def candidate(name: str) -> str:
    """The version of a package that would be downloaded; empty where the index does not tell."""
    try:
        done = run(["apt-cache", "show", "--no-all-versions", name], _ASKED_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (line.partition(": ") for line in done.stdout.splitlines())
    return next((value for field, _, value in lines if field == "Version"), "")


def download(names: Sequence[str], directory: Path) -> tuple[Package, ...]:
    """Download packages into a directory, in the order asked for.

    The package index is updated once if it does not suffice. Raises UnavailableError with what
    apt-get said.
    """
    ability = support()
    if not ability.met:
        raise UnavailableError(ability.reason, where=", ".join(names), hint=ability.hint)
    failure = _apt("download", directory, *names)
    if failure is not None:
        _apt("update", directory)
        failure = _apt("download", directory, *names)
    if failure is not None:
        raise UnavailableError(
            f"Debian's packages cannot be downloaded: {failure}",
            where=", ".join(names),
            hint=f"apt-get update && apt-get download {names[0]}",
        )
    return tuple(_package(name, directory) for name in names)


def unpack(packages: Sequence[Package], root: Path) -> None:
    """Unpack packages over each other below `root`, running none of their scripts."""
    for package in packages:
        done = run(["dpkg-deb", "-x", str(package.file), str(root)], _UNPACK_SECONDS)
        if done.returncode != 0:
            raise UnavailableError(
                f"`{package.file.name}` cannot be unpacked: {done.stderr.strip()}",
                hint=f"dpkg-deb --info {package.file.name}",
            )


def _apt(verb: str, directory: Path, *names: str) -> str | None:
    """Run apt-get in a directory; returns its last words if it failed, else None."""
    directory.mkdir(parents=True, exist_ok=True)
    # Without a sandbox user apt-get may write into a directory that only we can enter.
    argv = ["apt-get", "-q", "-o", "APT::Sandbox::User=", "-o", "Acquire::Retries=2", verb, *names]
    try:
        done = run(argv, _DOWNLOAD_SECONDS, within=directory)
    except subprocess.TimeoutExpired:
        return f"`apt-get {verb}` took more than {_DOWNLOAD_SECONDS} s"
    return last_words(done).removeprefix("E: ") if done.returncode else None


def _package(name: str, directory: Path) -> Package:
    """What apt-get left for a package: `name_version_architecture.deb`, with `:` as `%3a`."""
    files = sorted(directory.glob(f"{name}_*.deb"))
    if not files:
        raise UnavailableError(
            f"apt-get downloaded no package `{name}`", hint=f"apt-cache policy {name}"
        )
    version = files[-1].name.split("_")[1].replace("%3a", ":")
    digest = hashlib.sha256(files[-1].read_bytes()).hexdigest()
    return Package(name, version, digest, files[-1])
