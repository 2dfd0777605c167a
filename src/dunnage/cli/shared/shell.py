"""A shell that asks how a line can go on, or is to learn it: what is odd about it is no bug."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from dunnage.errors import ExitCode, UnavailableError, UsageError, shown

ASKING = "_DUNNAGE_COMPLETE"
"""Set by a shell that asks how a command line can go on."""
_INSTALL, _SHOW = "--install-completion", "--show-completion"
_SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
_WRITTEN = (
    ".bashrc",
    ".bash_completions/dunnage.sh",
    ".zshrc",
    ".zfunc/_dunnage",
    ".config/fish/completions/dunnage.fish",
)
"""What may be read and written below a home directory."""


def asks() -> bool:
    """Whether a shell asks how a line can go on.

    Raises UsageError where the environment says so and holds no such question.
    """
    asked = os.environ.get(ASKING, "")
    if not asked:
        return False
    deed, _, name = asked.partition("_")
    if deed not in ("complete", "source") or name not in _SHELLS:
        raise _unasked(f"`{ASKING}` is {shown(asked)}, and a shell sets it to `complete_bash`")
    if asked == "complete_bash":
        for variable in ("COMP_WORDS", "COMP_CWORD"):
            if variable not in os.environ:
                raise _unasked(f"`{ASKING}` is set, and `{variable}` is not")
        place = os.environ["COMP_CWORD"]
        try:
            int(place)
        except ValueError:
            raise _unasked(f"`COMP_CWORD` is {shown(place)} and not a number") from None
    return True


def _unasked(what: str) -> UsageError:
    return UsageError(what, hint=f"unset {ASKING}")


def carried_out(command_line: Callable[[], object], words: Sequence[str]) -> object:
    """What a command line ends with.

    Raises UsageError for further words, which nobody would look at. Raises UnavailableError where a
    shell cannot learn how lines go on: that is written into files of the user's own, which may be
    anything.
    """
    if not {_INSTALL, _SHOW} & set(words):
        return command_line()
    option, *others = words
    if option not in (_INSTALL, _SHOW) or others:
        asked = _INSTALL if _INSTALL in words else _SHOW
        raise UsageError(
            f"`{asked}` stands alone; it is for the shell in which it is typed",
            hint=f"dunnage {asked}",
        )
    try:
        for name in _WRITTEN if _INSTALL in words else ():
            _refuse_odd(Path.home() / name)
        code = command_line()
    except typer.Abort:
        raise
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
        raise UnavailableError(
            f"completion cannot be installed: {getattr(error, 'strerror', None) or error}",
            where=str(getattr(error, "filename", None) or ""),
            hint=f"dunnage {_SHOW}",
        ) from error
    if code == ExitCode.BUG:
        raise UnavailableError(
            "this is none of the shells that completion is for",
            hint="run it in bash, zsh, fish or PowerShell",
        )
    return code


def _refuse_odd(path: Path) -> None:
    """Raise OSError for what would be waited for, or is no text."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise OSError(0, "this is not a file", str(path))
