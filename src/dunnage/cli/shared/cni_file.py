"""A CNI configuration in a file of its own, for a lab without a study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dunnage.cli.shared.terminal import shell_line
from dunnage.errors import UsageError
from dunnage.model.cni import mistakes, text_of
from dunnage.study.document import read_document


def configuration_in(file: Path) -> str:
    """The text of the configuration in a file, as JSON or YAML.

    Raises UsageError with the first thing that is wrong with it, and its line.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the CNI configuration cannot be read: {error}", hint=shell_line("ls", "-l", file)
        ) from error
    document = read_document(text, settings=True)
    for problem in document.problems:
        raise _wrong(file, problem.line, problem.what, problem.hint)
    found = tuple(mistakes(document.data))
    if isinstance(document.data, Mapping) and not found:
        return text_of(document.data)
    keys, what, hint = found[0]
    raise _wrong(file, document.line(keys), what, hint)


def _wrong(file: Path, line: int, what: str, hint: str) -> UsageError:
    place = f"line {line}: " if line else ""
    advice = f"; {hint}" if hint else ""
    return UsageError(f"{place}{what}{advice}", where=str(file), hint=shell_line("cat", "-n", file))
