"""Root's rights, which a lab on this machine needs."""

from __future__ import annotations

import shutil


def become_root() -> str:
    """The command that gives a shell of root's, on this machine."""
    return "sudo -s" if shutil.which("sudo") else "su -"
