"""What is handed in on a second disk: a clone is made of it in there, and nothing has to be built.

repository.git   the commit that is checked out
site-packages/   Python's packages of our virtual environment
dunnage, engine  the command, and the engine as it is built here
cache/           what commands would download or build, already in the cache of Dunnage
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from dunnage.software.cache import default_root
from dunnage.software.engine import engine_path
from gate.proofs.commits import changes

CHECKOUT = Path(__file__).resolve().parents[2]
"""Where the clone is as well, so that paths in the virtual environment mean the same there."""
PYTHON = "3.11"
"""Debian 12's own, by which everything runs in there."""
_PLACE = "/srv/handed"
_CACHE = "/root/.cache/dunnage"


def references(prefixes: Iterable[str], cache: Path | None = None) -> dict[str, str]:
    """Request → entry, of all in the cache whose requests begin so."""
    known = (cache or default_root()) / "references"
    wanted = tuple(prefixes)
    return {
        file.name: file.read_text().strip()
        for file in sorted(known.iterdir())
        if file.name.startswith(wanted)
    }


def hand_in(place: Path, prefixes: Iterable[str]) -> Path:
    """Write the image of a disk into the directory `place`, with what is cached of the requests
    that begin so. Raises LookupError where our own Python is not of Debian's version, or files
    differ from the commit."""
    if changed := changes():
        raise LookupError(
            "the commit is tested, with the engine that is built of these files, and they differ "
            f"from it; type: git stash --include-untracked\n{changed}"
        )
    packages = Path(sysconfig.get_paths()["purelib"])
    if packages.parent.name != f"python{PYTHON}":
        raise LookupError(
            f"packages of {packages.parent.name} do not run by Debian's Python {PYTHON}; "
            f"type: make clean && make PYTHON=python{PYTHON} vm-test"
        )
    disk = place / "handed.ext4"
    with tempfile.TemporaryDirectory(dir=place) as content:
        _fill(Path(content), packages, references(prefixes))
        taken = int(_run("du", "--summarize", "--block-size=1M", content).split()[0])
        size = f"{round(1.2 * taken) + 256}M"
        _run("mkfs.ext4", "-q", "-m", "0", "-d", content, str(disk), size)
    return disk


def _fill(content: Path, packages: Path, cached: Mapping[str, str]) -> None:
    """Put all that is handed in into a directory; `cached` has requests and their entries."""
    for name in ("references", "entries"):
        (content / "cache" / name).mkdir(parents=True)
    for request, entry in cached.items():
        (content / "cache/references" / request).write_text(f"{entry}\n")
    for entry in sorted(set(cached.values())):
        _copied(default_root() / "entries" / entry, content / "cache/entries" / entry)
    _copied(packages, content / "site-packages")
    shutil.copy(Path(sys.executable).with_name("dunnage"), content / "dunnage")
    shutil.copy(engine_path(), content / "engine")
    source = f"file://{CHECKOUT}"
    _run("git", "clone", "--quiet", "--bare", "--depth=1", source, str(content / "repository.git"))


def taking() -> str:
    """A script that makes a fresh clone of it in there, in which everything is made already.

    What was handed in stays where it is, read-only.
    """
    built = engine_path().relative_to(CHECKOUT)
    environment = f".venv/lib/python{PYTHON}/site-packages"
    return f"""
set -e
mkdir -p {_PLACE} {_CACHE}/entries {CHECKOUT.parent}
mount -o ro /dev/vdb {_PLACE}
git clone --quiet {_PLACE}/repository.git {CHECKOUT}
cp -r {_PLACE}/cache/references {_CACHE}/
for each in {_PLACE}/cache/entries/*; do ln -s "$each" {_CACHE}/entries/; done
cd {CHECKOUT}
python3 -m venv --without-pip .venv
mount --bind {_PLACE}/site-packages {environment}
cp {_PLACE}/dunnage .venv/bin/
mkdir -p {built.parent}
cp {_PLACE}/engine {built}
touch .venv/.ready {built}
"""


def _copied(source: Path, target: Path) -> None:
    """A copy of a directory that takes no room where both are on one disk."""
    shutil.copytree(source, target, symlinks=True, copy_function=_linked)


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target)


def _run(*argv: str) -> str:
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    return done.stdout
