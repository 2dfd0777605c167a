"""A tree of Java's runtime, a server's jars and files of arguments that start its programs."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from dunnage.errors import UnavailableError
from dunnage.software.class_archive import TreeAtPrefix
from dunnage.software.recipe import JavaProgram, JavaRecipe
from dunnage.software.tree import Patchelf, closure

_PROGRAMS = ("bin/java", "lib/jspawnhelper")
# Fonts, images, sound and smart cards: their libraries want others that no server has.
_DESKTOP = frozenset(
    {
        "libawt.so",
        "libawt_headless.so",
        "libfontmanager.so",
        "libj2pcsc.so",
        "libjavajpeg.so",
        "libjsound.so",
        "liblcms.so",
        "libmlib_image.so",
    }
)
# Where jars keep libraries of this kind of machine; those for musl are for other systems.
_NATIVE: Mapping[str, re.Pattern[str]] = {
    "x86_64": re.compile(
        r"(?i)(?!.*musl).*(linux.(x86.64|amd64)/[^/]+|x86_64-linux/[^/]+|META-INF/native/[^/]+_x86_64)\.so"
    )
}


def make_java_tree(
    recipe: JavaRecipe, unpacked: Path, jars: Path, tree: Path, prefix: str, patchelf: Patchelf
) -> dict[str, str]:
    """Fill `tree`, made to be run at `prefix`; returns the SHA-256 of each class-data archive.

    `unpacked` holds the packages, `jars` the jars. The archives alone are other bytes each time.
    Raises UnavailableError when a library is missing or a program does not run.
    """
    _copy_runtime(unpacked, tree)
    shutil.copytree(jars, tree / "lib" / recipe.name)
    _extract_natives(jars, tree / "lib" / "native")
    _settle(unpacked, tree, prefix, patchelf)
    for program in recipe.programs:
        for name, text in program.shipped.items():
            (tree / "lib" / name).write_text(text)
        _write_arguments(recipe, program, tree, prefix, ())
    _normalise(tree)
    scratch = tree.with_name("scratch")
    scratch.mkdir()
    for program in recipe.programs:
        agents = [f"-javaagent:{prefix}/lib/{recipe.name}/{jar}" for jar in program.agents]
        TreeAtPrefix(tree, prefix, scratch).dump(program, agents)
        archive = f"-XX:SharedArchiveFile={prefix}/lib/{program.archive}"
        _write_arguments(recipe, program, tree, prefix, (archive, *agents))
    shutil.rmtree(scratch)
    _normalise(tree)
    return {
        f"archive.{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(tree.rglob("*.jsa"))
    }


def _copy_runtime(unpacked: Path, tree: Path) -> None:
    """Copy Java's own directories, following links into the packages' `/etc`."""
    homes = [path.parents[2] for path in unpacked.glob("usr/lib/jvm/*/lib/server/libjvm.so")]
    home = next(path for path in homes if not path.is_symlink())
    for name in ("conf", "lib", "bin/java"):
        _copy(home / name, tree / name, unpacked)
    # Java accepts an archive of its own classes only beside the very file that it was made of.
    unusable = [*(tree / "lib").rglob("*.jsa")]
    for path in (*unusable, *(tree / "lib" / name for name in _DESKTOP)):
        path.unlink(missing_ok=True)


def _copy(path: Path, to: Path, root: Path) -> None:
    """Copy a file or directory; what only links to another package's files is left out."""
    while path.is_symlink():
        target = path.readlink()
        path = root / str(target)[1:] if target.is_absolute() else path.parent / target
    if path.is_dir():
        for child in sorted(path.iterdir()):
            _copy(child, to / child.name, root)
    elif path.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)


def _extract_natives(jars: Path, to: Path) -> None:
    pattern = _NATIVE.get(platform.machine())
    if pattern is None:
        raise UnavailableError(
            f"Dunnage does not know where jars keep libraries for `{platform.machine()}`",
            hint="run on an x86_64 machine",
        )
    to.mkdir()
    for jar in sorted(jars.iterdir()):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if pattern.fullmatch(name):
                    (to / Path(name).name).write_bytes(archive.read(name))


def _settle(unpacked: Path, tree: Path, prefix: str, patchelf: Patchelf) -> None:
    """Add the system's libraries, and make programs and libraries find all of them in the tree."""
    own = sorted((tree / "lib").rglob("*.so"))
    programs = [tree / name for name in _PROGRAMS]
    for library in closure([*programs, *own], unpacked, patchelf):
        if not (tree / "lib" / library.name).exists() and library.name != "libjvm.so":
            shutil.copyfile(library, tree / "lib" / library.name)
    for program in programs:
        loader = Path(patchelf.interpreter(program)).name
        patchelf.settle(program, f"{prefix}/lib/{loader}", f"{prefix}/lib")


def _write_arguments(
    recipe: JavaRecipe, program: JavaProgram, tree: Path, prefix: str, further: Iterable[str]
) -> None:
    """Write a program's file of arguments, with `further` ones once there are an archive's."""
    lib = f"{prefix}/lib"
    jars = f"{lib}/{recipe.name}"
    lines = [f"-cp {':'.join(f'{jars}/{name}' for name in sorted(recipe.jars))}"]
    lines += [
        option.replace("{jars}", jars).replace("{native}", f"{lib}/native").replace("{lib}", lib)
        for option in program.options
    ]
    lines += further
    lines += [program.main] if program.main else []
    (tree / "lib" / f"{program.name}.args").write_text("\n".join(lines) + "\n")


def _normalise(tree: Path) -> None:
    """Give every file the mode that its place wants, and no time: Java checks that of jars."""
    for path in (tree, *tree.rglob("*")):
        executable = path.is_dir() or ".so" in path.name or str(path.relative_to(tree)) in _PROGRAMS
        path.chmod(0o755 if executable else 0o644)
        os.utime(path, (0, 0))
