"""How a kernel that lacks something can be given it: only some kernels load modules."""

from __future__ import annotations

import os
from pathlib import Path

_LOADED = Path("/proc/modules")
"""There where the kernel can load modules at all."""
_INSTALLED = Path("/lib/modules")


def how_to_load(*names: str) -> str:
    """A command that loads these modules, where it can; else what would help."""
    listed = " and ".join(f"`{name}`" for name in names)
    other = f"use a machine whose kernel has {listed}: this one"
    if not _LOADED.exists():
        return f"{other} loads no modules"
    command = f"modprobe {'-a ' if len(names) > 1 else ''}{' '.join(names)}"
    try:
        known = (_INSTALLED / os.uname().release / "modules.dep").read_text(errors="replace")
    except OSError:  # as in a container, which has the kernel of its machine and none of its files
        return f"{command}  # on the machine itself: its modules are not to be seen here"
    if all(_is_among(name, known) for name in names):
        return command
    return f"{other} has no such module"


def _is_among(name: str, known: str) -> bool:
    """Whether `modules.dep` has a module, in whose file `-` may stand for `_`."""
    files = (line.partition(":")[0].rpartition("/")[2] for line in known.splitlines())
    return any(file.partition(".")[0].replace("-", "_") == name for file in files)
