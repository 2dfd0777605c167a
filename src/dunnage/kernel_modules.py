"""How a kernel that lacks something can be given it: only some kernels load modules."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

_LOADED = Path("/proc/modules")
"""There where the kernel can load modules at all."""
_INSTALLED = Path("/lib/modules")


def how_to_load(*names: str) -> str:
    """A command that loads these modules, where it can; else what would help."""
    if not _LOADED.exists():
        return f"{_another(names)} loads no modules"
    installed = _INSTALLED / os.uname().release
    try:
        loadable = (installed / "modules.dep").read_text(errors="replace")
    except OSError:  # as in a container, which has the kernel of its machine and none of its files
        return f"{_load(names)}  # on the machine itself: its modules are not to be seen here"
    try:
        builtin = (installed / "modules.builtin").read_text(errors="replace")
    except OSError:
        builtin = ""
    wanted = [name for name in names if not _is_among(name, builtin)]
    absent = [name for name in wanted if not _is_among(name, loadable)]
    if absent:
        return f"{_another(absent)} has no such module"
    if wanted:
        return _load(wanted)
    return f"use another machine: this one's kernel has {_listed(names)} built in"


def _another(names: Sequence[str]) -> str:
    return f"use a machine whose kernel has {_listed(names)}: this one"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _load(names: Sequence[str]) -> str:
    return f"modprobe {'-a ' if len(names) > 1 else ''}{' '.join(names)}"


def _is_among(name: str, known: str) -> bool:
    """Whether a list of the kernel's has a module, in whose file `-` may stand for `_`."""
    files = (line.partition(":")[0].rpartition("/")[2] for line in known.splitlines())
    return any(file.partition(".")[0].replace("-", "_") == name for file in files)
