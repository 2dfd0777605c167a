"""YCSB's own core from Maven Central, and the adapters in `ycsb/` by which it reaches databases."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from jars import jars
from own_loopback import OwnLoopback

from dunnage.model.choices import Phase
from dunnage.model.layout import Software
from dunnage.software.cache import Cache
from dunnage.software.trees import DebianSoftware

JAVA = Software("cassandra", "5.0")
"""Its tree has a Java, a compiler of Java and the driver of YCSB's binding for Cassandra."""

_HERE = Path(__file__).parent
_CORE = ("site.ycsb:core:0.17.0", _HERE / "ycsb-core-0.17.0.sha256")
_MONGO = ("org.mongodb:mongo-java-driver:3.12.14", _HERE / "mongo-java-driver-3.12.14.sha256")
_SOURCES = sorted((_HERE / "ycsb").glob("*.java"))
_OPTIONS = (
    "-Xmx256M",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    f"-Dlogback.configurationFile={_HERE}/ycsb/logback.xml",
)
_COMPILER = "org.eclipse.jdt.internal.compiler.batch.Main"
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
        prefix = loopback.bring(JAVA)
        self._java = f"{prefix}/bin/java"
        fetched = (jars(*each) for each in (_CORE, _MONGO))
        listed = sorted(str(jar) for directory in fetched for jar in directory.iterdir())
        of_the_tree = sorted(Path(DebianSoftware().tree(JAVA).source).glob("lib/cassandra/*.jar"))
        plain = (jar.name for jar in of_the_tree if not _replaces_java(jar))
        listed += [f"{prefix}/lib/cassandra/{name}" for name in plain]
        self._jars = ":".join(listed)
        self._classes = self._compiled()

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
        return self._program("-cp", f"{self._classes}:{self._jars}", main, *words)

    def _program(self, *words: str) -> str:
        """All that a Java program writes; it must end well."""
        argv = self.inside(self._java, *_OPTIONS, *words)
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def _compiled(self) -> Path:
        """The directory of the classes in `ycsb/`, compiled once."""
        digest = hashlib.sha256(self._jars.encode())
        for source in _SOURCES:
            digest.update(source.name.encode() + source.read_bytes())
        entry = f"ycsb-adapters-{digest.hexdigest()[:16]}"

        def make(directory: Path) -> str:
            words = ["-17", "-nowarn", "-proc:none", "--system", str(self._system(directory))]
            words += ["-d", str(directory / "classes"), *map(str, _SOURCES)]
            self._program("-cp", self._jars, _COMPILER, "-cp", self._jars, *words)
            return entry

        return Cache().obtain(entry, make) / "classes"

    def _system(self, directory: Path) -> Path:
        """A directory of Java's own classes for the compiler, with the file `release`, which names
        the version and which the tree does not have."""
        system = directory / "system"
        (system / "lib").mkdir(parents=True)
        (system / "release").write_text('JAVA_VERSION="17"\n')
        for name in ("modules", "jrt-fs.jar"):
            (system / "lib" / name).symlink_to(Path(self._java).parent.parent / "lib" / name)
        return system


def _replaces_java(jar: Path) -> bool:
    """Whether a jar brings classes of Java's own packages, which the compiler refuses."""
    with ZipFile(jar) as opened:
        return any(name.startswith("java/") for name in opened.namelist())
