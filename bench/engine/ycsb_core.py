"""YCSB's own core from Maven Central, and the adapters in `ycsb/` by which it reaches databases,
compiled once by the compiler in the tree of Cassandra."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from dunnage.errors import UnavailableError
from dunnage.model.layout import Software
from dunnage.software.cache import Cache
from dunnage.software.trees import DebianSoftware

from .jars import jars

JAVA = Software("cassandra", "5.0")
"""Its tree has a Java, a compiler of Java and the driver of YCSB's binding for Cassandra."""
VERSION = "0.17.0"

_HERE = Path(__file__).parent
ADAPTERS = tuple(sorted((_HERE / "ycsb").glob("*.java")))
_CORE = (f"site.ycsb:core:{VERSION}", _HERE / f"ycsb-core-{VERSION}.sha256")
_MONGO = ("org.mongodb:mongo-java-driver:3.12.14", _HERE / "mongo-java-driver-3.12.14.sha256")
_COMPILER = "org.eclipse.jdt.internal.compiler.batch.Main"
_SMALL = ("-Xmx256M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass(frozen=True)
class YcsbCore:
    """YCSB's core with adapters, ready to run."""

    java: Sequence[str]
    """The words that start Java where the tree's prefix is."""
    class_path: str

    def argv(self, main: str, *words: str, options: Sequence[str] = ()) -> list[str]:
        """What runs a class with some options of Java."""
        quiet = f"-Dlogback.configurationFile={_HERE}/ycsb/logback.xml"
        return [*self.java, *options, quiet, "-cp", self.class_path, main, *words]


def ycsb_core(inside: Sequence[str], prefix: str, sources: Sequence[Path] = ADAPTERS) -> YcsbCore:
    """With the classes of `sources`. `inside`: the words before a command where the tree of `JAVA`
    is at its prefix. Raises UnavailableError when the jars cannot be had, or the compiler fails."""
    java = (*inside, f"{prefix}/bin/java")
    fetched = (jars(*each) for each in (_CORE, _MONGO))
    listed = sorted(str(jar) for directory in fetched for jar in directory.iterdir())
    of_the_tree = sorted(Path(DebianSoftware().tree(JAVA).source).glob("lib/cassandra/*.jar"))
    plain = (jar.name for jar in of_the_tree if not _replaces_java(jar))
    listed += [f"{prefix}/lib/cassandra/{name}" for name in plain]
    path = ":".join(listed)
    return YcsbCore(java, f"{_compiled(java, prefix, path, sources)}:{path}")


def _compiled(java: Sequence[str], prefix: str, path: str, sources: Sequence[Path]) -> Path:
    digest = hashlib.sha256(path.encode())
    for source in sources:
        digest.update(source.name.encode() + source.read_bytes())
    entry = f"ycsb-adapters-{digest.hexdigest()[:16]}"

    def make(directory: Path) -> str:
        words = ["-17", "-nowarn", "-proc:none", "--system", str(_system(directory, prefix))]
        words += ["-d", str(directory / "classes"), *map(str, sources)]
        argv = [*java, *_SMALL, "-cp", path, _COMPILER, "-cp", path, *words]
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise UnavailableError(
                f"YCSB's adapters do not compile: {(done.stdout + done.stderr).strip()}",
                where=str(sources[0].parent),
            )
        return entry

    return Cache().obtain(entry, make) / "classes"


def _system(directory: Path, prefix: str) -> Path:
    """A directory of Java's own classes for the compiler, with the file `release`, which names the
    version and which the tree does not have."""
    system = directory / "system"
    (system / "lib").mkdir(parents=True)
    (system / "release").write_text('JAVA_VERSION="17"\n')
    for name in ("modules", "jrt-fs.jar"):
        (system / "lib" / name).symlink_to(f"{prefix}/lib/{name}")
    return system


def _replaces_java(jar: Path) -> bool:
    """Whether a jar brings classes of Java's own packages, which the compiler refuses."""
    with ZipFile(jar) as opened:
        return any(name.startswith("java/") for name in opened.namelist())
