"""A tree that runs from one absolute path with nothing from outside it: programs and libraries."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from dunnage.errors import UnavailableError
from dunnage.software.program import run


class Patchelf:
    """The tool that reads and changes how a program is linked."""

    def __init__(self, program: Path) -> None:
        self._program = program

    def needed(self, file: Path) -> tuple[str, ...]:
        """Names of the libraries that a program or library asks for."""
        return tuple(self._run("--print-needed", str(file)).split())

    def interpreter(self, file: Path) -> str:
        """Path of the loader that starts a program."""
        return self._run("--print-interpreter", str(file)).strip()

    def settle(self, file: Path, interpreter: str, libraries: str) -> None:
        """Make a program start with this loader and look for libraries here first.

        DT_RPATH, not DT_RUNPATH: only the former holds for the libraries of libraries too, which
        so stay as Debian built them.
        """
        self._run("--set-interpreter", interpreter, str(file))
        self._run("--force-rpath", "--set-rpath", libraries, str(file))

    def _run(self, *arguments: str) -> str:
        done = run([str(self._program), *arguments], 60)
        if done.returncode != 0:
            raise UnavailableError(
                f"`patchelf {' '.join(arguments)}` failed: {done.stderr.strip()}",
                hint=f"{self._program} --version",
            )
        return done.stdout


def make_tree(
    source: Path, programs: Mapping[str, str], tree: Path, prefix: str, patchelf: Patchelf
) -> None:
    """Fill `tree` with `bin/` and `lib/`, made to be run at `prefix`.

    `source` holds unpacked packages. Raises UnavailableError naming a library that none of them
    has.
    """
    binaries, libraries = tree / "bin", tree / "lib"
    binaries.mkdir(parents=True)
    libraries.mkdir()
    for name, path in programs.items():
        shutil.copyfile(source / path, binaries / name)
    for library in closure((source / path for path in programs.values()), source, patchelf):
        shutil.copyfile(library, libraries / library.name)
    for file in (*binaries.iterdir(), *libraries.iterdir()):
        file.chmod(0o755)
    for name in programs:
        loader = Path(patchelf.interpreter(binaries / name)).name
        patchelf.settle(binaries / name, f"{prefix}/lib/{loader}", f"{prefix}/lib")
    for directory in (tree, binaries, libraries):
        directory.chmod(0o755)


def closure(programs: Iterable[Path], source: Path, patchelf: Patchelf) -> tuple[Path, ...]:
    """Every library that the programs map, loader included, under the name it is asked for by.

    Raises UnavailableError naming one that no package below `source` has.
    """
    packaged = _libraries(source)
    waiting = [(str(program), name) for program in programs for name in patchelf.needed(program)]
    libraries: dict[str, Path] = {}
    while waiting:
        asker, name = waiting.pop()
        if name in libraries:
            continue
        if name not in packaged:
            raise UnavailableError(
                f"no package of the recipe has the library `{name}`",
                where=asker,
                hint=f"apt-cache search {name.partition('.so')[0]}",
            )
        libraries[name] = packaged[name]
        waiting += [(name, other) for other in patchelf.needed(packaged[name])]
    return tuple(libraries[name] for name in sorted(libraries))


def _libraries(source: Path) -> Mapping[str, Path]:
    """Every library below `source` by name; of several, the least deep one is the plain build."""
    libraries: dict[str, Path] = {}
    for directory, _, names in os.walk(source):
        for name in names:
            path, known = Path(directory, name), libraries.get(name)
            if ".so" in name and (known is None or len(path.parts) < len(known.parts)):
                libraries[name] = path
    return libraries
