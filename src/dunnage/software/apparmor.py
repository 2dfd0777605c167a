"""AppArmor: where the kernel has it on, Docker's daemon starts no container without its parser."""

from __future__ import annotations

import shutil
from pathlib import Path

from dunnage.model.offer import Support

_PARSER = "apparmor_parser"
_ON = Path("module/apparmor/parameters/enabled")
_INTERFACE = Path("kernel/security/apparmor")
"""Both are asked for by runc's library, which the daemon asks (`libcontainer/apparmor`)."""


def support(search: str, sys: Path = Path("/sys")) -> Support:
    """Whether a Docker daemon can give its containers a profile; `search` is the PATH of it."""
    if not _is_on(sys) or shutil.which(_PARSER, path=search) is not None:
        return Support(met=True)
    return Support(
        met=False,
        reason=f"the kernel has AppArmor on and `{_PARSER}` is not on PATH: Docker's daemon starts "
        "no container",
        hint="apt-get install apparmor",
    )


def _is_on(sys: Path) -> bool:
    try:
        return (sys / _INTERFACE).exists() and (sys / _ON).read_text().startswith("Y")
    except OSError:
        return False
