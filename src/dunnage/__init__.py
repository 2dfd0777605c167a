"""Dunnage: what a platform costs a database, with its uncertainty and its cause."""

TYPE_CHECKING = False
"""As `typing` has it. The command begins here, so nothing is loaded before it hears Ctrl-C."""
if TYPE_CHECKING:
    from pathlib import Path

    from dunnage.opened import OpenedResult

__version__ = "0.1.0"


def open(path: "str | Path") -> "OpenedResult":  # noqa: A001 - read as `dunnage.open`
    """Open a result directory for reading, or the newest one below a directory.

    `dunnage.open("results/quickstart").comparisons` is a data frame; `dunnage.opened.OpenedResult`
    says what else there is. Raises `dunnage.errors.ResultError` where no result is.
    """
    from dunnage.opened import open_at

    return open_at(path)
