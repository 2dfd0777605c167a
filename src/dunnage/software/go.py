"""Programs built of Go modules, with the `go` of this machine or of this project's tools."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dunnage.errors import UnavailableError
from dunnage.model.offer import Support
from dunnage.software import go_program
from dunnage.software.go_program import GoProgram
from dunnage.software.program import at_home, last_words, run
from dunnage.units import duration

TOOLCHAIN = "go.lock"
"""The file beside `go.mod` from which pip installs Go where there is none."""
_PIP = ("install", "--no-deps", "--require-hashes", "-r")

_VERSION = re.compile(r"\bgo version go(\d+(?:\.\d+)*)")
_REQUIRED = re.compile(r"^go (\d+(?:\.\d+)*)$", re.MULTILINE)
_FULL = "no space left on device"
_PLACE = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s\"']+|(?<=\btcp )\S+(?=:)|(?<=\blookup )\S+(?: on \S+)?(?=:)",
    re.IGNORECASE,
)
# Names are looked up by Go itself, with C or without: so a package is compiled once for both.
_MODE = ("-mod=readonly", "-tags=netgo,osusergo")
_COMPILER = "gcc"
_SHAPING = re.compile(r"GO|CGO_|(?:CC|CXX|FC|AR|GCCGO|PKG_CONFIG)$")
"""Names of settings of Go and of its compilers."""
_KEPT = (
    *("GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOINSECURE", "GOAUTH", "GOVCS"),
    *("GOPATH", "GOCACHE", "GOMODCACHE", "GOTMPDIR"),
)
"""Settings of where modules come from and where files lie, which bear on no program."""
_ASK_SECONDS = 30
_LIST_SECONDS = 1800
_BUILD_SECONDS = 5400
_TELL_SECONDS = 30.0
_LAST_LINES = 10


@dataclass(frozen=True)
class Go:
    """A `go` that is new enough for the modules in `source`."""

    program: Path
    version: str
    source: Path

    def program_facts(self, program: Path) -> GoProgram:
        """What a program says of its making; raises UnavailableError if Go cannot read it."""
        done = self._ask("version", "-m", str(program))
        try:
            return go_program.parse(done.stdout)
        except ValueError as error:
            raise UnavailableError(
                f"{error or last_words(done)}",
                where=str(program),
                hint=shlex.join([str(self.program), "version", "-m", str(program)]),
            ) from error

    def build(
        self,
        packages: Sequence[str],
        directory: Path,
        flags: Sequence[str],
        tell: Callable[[str], None],
        *,
        with_c: bool = False,
        every: float = _TELL_SECONDS,
    ) -> None:
        """Build programs into a directory, each named as its package's last part.

        They run without libraries from outside; `with_c` lets parts of them be written in C.
        `tell` hears every so many seconds how many packages are compiled; those that Go's own cache
        has are not counted. Raises UnavailableError when modules cannot be had, the disk is full,
        or the build fails.
        """
        environment = self._environment(with_c=with_c)
        total = self._count(packages, environment)
        names = ", ".join(package.rpartition("/")[2] for package in packages)
        begun = time.monotonic()
        log = directory.with_name(f"{directory.name}.log")
        argv = [str(self.program), "build", "-v", "-trimpath", *_MODE, *flags]
        argv += ["-o", f"{directory}/", *packages]
        with log.open("wb") as output, _started(argv, self.source, environment, output) as process:
            while True:
                try:
                    code = process.wait(every)
                    break
                except subprocess.TimeoutExpired:
                    passed = time.monotonic() - begun
                if passed > _BUILD_SECONDS:
                    raise self._failure(f"`go build` took more than {duration(_BUILD_SECONDS)}")
                compiled = len(_compiled(log.read_text(errors="replace")))
                tell(f"{names}: {compiled} of at most {total} packages, {duration(passed)}")
        said = log.read_text(errors="replace")
        log.unlink()
        if code != 0:
            lines = [line for line in said.splitlines() if line not in _compiled(said)]
            told = "\n".join(lines[-_LAST_LINES:]) or f"exit code {code}"
            raise self._full(said) or self._failure(f"`go build` failed:\n{told}")

    def _count(self, packages: Sequence[str], environment: Mapping[str, str]) -> int:
        """How many packages the programs consist of; all modules are there when it is known."""
        argv = [str(self.program), "list", "-deps", *_MODE, *packages]
        try:
            done = run(argv, _LIST_SECONDS, within=self.source, env=environment)
        except subprocess.TimeoutExpired as error:
            raise self._failure(f"`go list` took more than {duration(_LIST_SECONDS)}") from error
        if done.returncode != 0:
            # Where this machine fetches from is nobody's business, and may hold a password.
            words = _PLACE.sub("…", last_words(done))
            raise self._full(done.stderr) or UnavailableError(
                f"Go's modules cannot be had: {words}",
                where=str(self.source),
                hint=f"{self.typed('list', '-deps', './...')} > /dev/null",
            )
        return len(done.stdout.split())

    def _full(self, said: str) -> UnavailableError | None:
        if _FULL not in said:
            return None
        return UnavailableError(
            "the disk is full: building takes about 5 GB",
            where=str(self.source),
            hint=shlex.join(["df", "-h", *self._places()]),
        )

    def _places(self) -> Sequence[str]:
        """The directories in which it writes while it builds."""
        kept = self._kept()
        builds = kept.get("GOTMPDIR") or tempfile.gettempdir()
        return (kept["GOCACHE"], kept["GOMODCACHE"], builds)

    def _environment(self, *, with_c: bool) -> Mapping[str, str]:
        """This process's environment, without what would make other programs of the same modules.

        What `go env -w` set is left out as well, but for what says where modules come from.
        """
        return {
            **_plain_environment(),
            **self._kept(),
            "GOENV": "off",
            "GOFLAGS": "-buildvcs=false",
            "CGO_ENABLED": str(int(with_c)),
            "CC": _COMPILER,
        }

    def _kept(self) -> Mapping[str, str]:
        """Those settings that this machine's own way of having modules needs."""
        done = self._ask("env", "-json", *_KEPT)
        if done.returncode != 0:
            words = _PLACE.sub("…", last_words(done))
            raise self._failure(f"`go env` failed: {words}")
        told: dict[str, str] = json.loads(done.stdout)
        return {name: value for name, value in told.items() if value}

    def _ask(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run it among the modules, with all settings that it has here."""
        try:
            return run([str(self.program), *words], _ASK_SECONDS, within=self.source)
        except subprocess.TimeoutExpired as error:
            raise self._failure(
                f"`go {words[0]}` took more than {duration(_ASK_SECONDS)}"
            ) from error

    def typed(self, *words: str) -> str:
        """A command of this Go among the modules, as it can be typed."""
        return f"cd {shlex.quote(str(self.source))} && {shlex.join([str(self.program), *words])}"

    def _failure(self, what: str) -> UnavailableError:
        return UnavailableError(
            what, where=str(self.source), hint=self.typed("build", "-v", "./...")
        )


def find(source: Path) -> Go:
    """The first `go` that is new enough for the modules in `source`: on PATH, else our tools'.

    Raises UnavailableError when there is none, or when the modules are not there.
    """
    required = _required(source)
    refusals = []
    for program in _candidates():
        try:
            done = run(
                [str(program), "version"],
                _ASK_SECONDS,
                within=source,
                env=_plain_environment(),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            refusals.append(f"`{program}` does not run: {error}")
            continue
        found = _VERSION.search(done.stdout)
        if done.returncode == 0 and found and _numbers(found[1]) >= _numbers(required):
            return Go(program, found[1], source)
        version = (
            f"is version {found[1]}" if found else f"says: {_PLACE.sub('…', last_words(done))}"
        )
        refusals.append(f"`{program}` {version}")
    raise UnavailableError(
        f"Go {required} or newer is needed, and {'; '.join(refusals) or '`go` is not on PATH'}",
        where=str(source),
        hint=shlex.join([f"{sys.prefix}/bin/pip", *_PIP, str(source / TOOLCHAIN)]),
    )


def support(source: Path) -> Support:
    """Whether there is a `go` that is new enough for the modules in `source`."""
    try:
        find(source)
    except UnavailableError as error:
        return Support(met=False, reason=error.what, hint=error.hint)
    return Support(met=True)


def compiler_support() -> Support:
    """Whether there is the compiler that programs with parts in C need."""
    if shutil.which(_COMPILER) is not None:
        return Support(met=True)
    return Support(
        met=False,
        reason=f"`{_COMPILER}` is not on PATH, and a part of flannel is written in C",
        hint="apt-get install --no-install-recommends gcc libc6-dev",
    )


def module_sum(source: Path, module: str, version: str) -> str:
    """The hash of a module in `go.sum`; raises KeyError if it has none."""
    found = re.search(
        rf"^{re.escape(module)} {re.escape(version)} (h1:\S+)$",
        (source / "go.sum").read_text(),
        re.M,
    )
    if found is None:
        raise KeyError(module)
    return found[1]


def module_version(source: Path, module: str) -> str:
    """The version of a module that `go.mod` asks for; raises KeyError if it does not."""
    found = re.search(rf"^\s*(?:require )?{re.escape(module)} (v\S+)", _modules(source), re.M)
    if found is None:
        raise KeyError(module)
    return found[1]


def _required(source: Path) -> str:
    found = _REQUIRED.search(_modules(source))
    if found is None:
        raise UnavailableError("`go.mod` names no version of Go", where=str(source))
    return found[1]


def _modules(source: Path) -> str:
    try:
        return (source / "go.mod").read_text()
    except OSError as error:
        raise UnavailableError(
            "what is built of Go modules is not there: it comes with a checkout of Dunnage",
            where=str(source),
            hint="run Dunnage from its checkout: make quickstart",
        ) from error


def _candidates() -> Iterator[Path]:
    on_path = shutil.which("go")
    if on_path is not None:
        yield Path(on_path)
    ours = Path(sys.prefix, "bin", "go")
    if ours.exists() and str(ours) != on_path:
        yield ours


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _plain_environment() -> Mapping[str, str]:
    """This process's environment without settings of Go; no Go fetches another of itself."""
    kept = {name: value for name, value in os.environ.items() if not _SHAPING.match(name)}
    return at_home({**kept, "GOTOOLCHAIN": "local", "GOWORK": "off"})


def _compiled(said: str) -> set[str]:
    """The packages that `go build -v` named: lines that are a path and nothing else."""
    return {line for line in said.splitlines() if line and not re.search(r"[\s:#]", line)}


@contextmanager
def _started(
    argv: Sequence[str], within: Path, environment: Mapping[str, str], output: BinaryIO
) -> Iterator[subprocess.Popen[bytes]]:
    """A program with its children, which end at the end of the `with` at the latest."""
    process = subprocess.Popen(
        argv,
        cwd=within,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
