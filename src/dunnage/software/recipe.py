"""What a software tree is made of, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Recipe:
    """A tree made of Debian's packages.

    `revision` counts changes of the way trees are made; `programs` maps a name below `bin/` to the
    file in the packages; the first of `packages` gives the exact version.
    """

    name: str
    version: str
    revision: int
    packages: tuple[str, ...]
    programs: Mapping[str, str]


@dataclass(frozen=True)
class JavaProgram:
    """A program of a Java tree, started as `bin/java @lib/NAME.args …`.

    In its options `{lib}`, `{jars}` and `{native}` stand for directories of the tree.
    """

    name: str
    options: tuple[str, ...]
    """Java's options, whatever the study."""
    main: str | None
    """Main class at the end of the file, which only the program's own arguments can follow; None
    where options of Java follow it."""
    archive: str
    """Name of its class-data archive below `lib/`."""
    rehearsal: tuple[str, ...]
    """What follows the file when the program is run once for its archive; `{scratch}` stands for a
    directory that holds `files`."""
    ready: str | None = None
    """What it writes when its classes are loaded and it may be stopped; None when it ends."""
    files: Mapping[str, str] = field(default_factory=dict, repr=False)
    shipped: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Files that it needs below `lib/`, whatever the study."""
    agents: tuple[str, ...] = ()
    """Jars that Java is to take as agents."""


@dataclass(frozen=True)
class JavaRecipe:
    """A tree made of a Java runtime of Debian's packages and of jars of Maven Central."""

    name: str
    version: str
    revision: int
    packages: tuple[str, ...]
    """The runtime and the packages with the libraries that it maps."""
    artefact: str
    """What Maven resolves, as `group:name:version`, with all that it needs to run."""
    jars: Mapping[str, str] = field(repr=False)
    """Name of each jar → its SHA-256: every tree of a recipe has the same ones."""
    programs: tuple[JavaProgram, ...]
