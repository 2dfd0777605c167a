"""Jars from Maven Central, by their coordinates, with `mvn` as this machine has configured it."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from dunnage.errors import UnavailableError
from dunnage.model.offer import Support
from dunnage.software.program import run

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_JAR = ("groupId", "artifactId", "version")
"""What names a jar; another file has a type and a classifier besides."""
_SECONDS = 900
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s()'\"<>\]]+", re.IGNORECASE)
HINT = "apt-get install --no-install-recommends maven"


def support() -> Support:
    """Whether `mvn` is there."""
    if shutil.which("mvn") is not None:
        return Support(met=True)
    return Support(
        met=False,
        reason="`mvn` is not on PATH, and jars come from Maven Central",
        hint=HINT,
    )


def fetch(artefact: str, known: Mapping[str, str], directory: Path) -> None:
    """Put the jars of `artefact` (`group:name:version`) and of all that it needs into a directory.

    Of another kind of file (`group:name:version:type:classifier`) it puts that file alone there.
    `known` maps their names to their SHA-256. Raises UnavailableError with what Maven said, or when
    a jar is missing, unknown or another than the known one.
    """
    ability = support()
    if not ability.met:
        raise UnavailableError(ability.reason, where=artefact, hint=ability.hint)
    directory.mkdir(parents=True)
    project = directory.with_name(f"{directory.name}.xml")
    project.write_text(_project(artefact))
    try:
        _run(project, directory, artefact)
    finally:
        project.unlink()
    jars = {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in directory.iterdir()}
    wrong = sorted({name for name, _ in known.items() ^ jars.items()})
    if wrong:
        raise UnavailableError(
            f"Maven's jars are not those that this version of Dunnage expects: {', '.join(wrong)}",
            where=artefact,
            hint=f"mvn dependency:get -Dartifact={artefact}",
        )


def _run(project: Path, directory: Path, artefact: str) -> None:
    argv = ["mvn", "--quiet", "--batch-mode", "--file", str(project), _COPY]
    argv += ["-DincludeScope=runtime", f"-DoutputDirectory={directory}"]
    if len(artefact.split(":")) > len(_JAR):
        argv.append("-DexcludeTransitive=true")
    try:
        done = run(argv, _SECONDS, within=directory)
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(
            f"`mvn` took more than {_SECONDS} s", where=artefact, hint="mvn --version"
        ) from error
    if done.returncode != 0:
        words = [line for line in done.stdout.splitlines() if line.startswith("[ERROR]")]
        reason = words[0].removeprefix("[ERROR] ") if words else done.stderr.strip()
        # Where this machine fetches from is nobody's business, and may hold a password.
        raise UnavailableError(
            f"Maven cannot fetch the jars: {_ADDRESS.sub('…', reason)}",
            where=artefact,
            hint=f"mvn dependency:get -Dartifact={artefact}",
        )


def _project(artefact: str) -> str:
    """The smallest project that depends on an artefact."""
    parts = dict(zip((*_JAR, "type", "classifier"), artefact.split(":"), strict=False))
    needs = "".join(f"<{key}>{escape(value)}</{key}>" for key, value in parts.items())
    return (
        "<project><modelVersion>4.0.0</modelVersion>"
        "<groupId>dunnage</groupId><artifactId>tree</artifactId><version>1</version>"
        f"<dependencies><dependency>{needs}</dependency></dependencies></project>\n"
    )
