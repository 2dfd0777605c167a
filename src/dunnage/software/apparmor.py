"""AppArmor: where the kernel has it on, an old Docker starts no container without its parser."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from dunnage.model.offer import Support

_PARSER = "apparmor_parser"
_DOES_WITHOUT = (23, 0, 1)
"""The first Docker that starts containers without the parser, by its release notes (moby#44942)."""
_ON = Path("module/apparmor/parameters/enabled")
_INTERFACE = Path("kernel/security/apparmor")
"""Both are asked for by runc's library, which the daemon asks (`libcontainer/apparmor`)."""
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def support(search: str, version: Callable[[], str], sys: Path = Path("/sys")) -> Support:
    """Whether a Docker daemon can give its containers a profile, or does without.

    `search` is the PATH of it; `version` says its version in any words, and is asked only where
    that matters. A daemon that tells none is taken for a newer one.
    """
    if not _is_on(sys) or shutil.which(_PARSER, path=search) is not None:
        return Support(met=True)
    found = _VERSION.search(version())
    if found is None or tuple(map(int, found.groups())) >= _DOES_WITHOUT:
        return Support(met=True)
    return Support(
        met=False,
        reason=f"the kernel has AppArmor on and `{_PARSER}` is not on PATH: Docker {found.group()} "
        f"starts no container then, as {'.'.join(map(str, _DOES_WITHOUT))} and later ones do",
        hint="apt-get install apparmor",
    )


def _is_on(sys: Path) -> bool:
    try:
        return (sys / _INTERFACE).exists() and (sys / _ON).read_text().startswith("Y")
    except OSError:
        return False
