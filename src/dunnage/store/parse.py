"""One file of a result: what it holds, or what is wrong with it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import from_json

from dunnage.errors import ExitCode, ResultError
from dunnage.model.damage import Flaw
from dunnage.model.value import Scalar, Value
from dunnage.store.regular import regular_bytes

V = TypeVar("V", bound=Value)

_FACTS: TypeAdapter[dict[str, Scalar]] = TypeAdapter(
    dict[str, Scalar], config=ConfigDict(allow_inf_nan=False)
)
_NEEDED = ("study.yaml", "plan")
"""Files, or how their names begin, without which nothing can be read of a result."""


class DamagedError(ResultError):
    """A file of a result cannot be used; the rest of the result may be whole."""

    def __init__(self, what: str, path: Path, flaw: Flaw, detail: str = "", hint: str = "") -> None:
        again = shlex.join(["dunnage", "verify", str(path.parent)])
        super().__init__(what, where=str(path), hint=hint or again)
        if flaw not in (Flaw.FORBIDDEN, Flaw.VERSION) and path.name.startswith(_NEEDED):
            self.needed = str(path)
        self.flaw = flaw
        self.detail = detail


class ForbiddenError(DamagedError):
    """This user may not read a file, which says nothing about what is in it."""

    exit_code = ExitCode.UNAVAILABLE

    def __init__(self, path: Path) -> None:
        hint = as_owner(path, "verify", str(path.parent))
        super().__init__("this user may not read it", path, Flaw.FORBIDDEN, hint=hint)


def as_owner(path: Path, *words: str) -> str:
    """What helps where this user may not read a file: the command of such words as the user to whom
    it, or what holds it, belongs; to its owner, a file can be opened."""
    for each in (path, *path.parents):
        with suppress(OSError, KeyError):
            if each.stat().st_uid == os.geteuid():
                opened = shlex.join(["chmod", "u+rX", str(each)])
                return f"{opened} && {shlex.join(['dunnage', *words])}"
            return shlex.join(["sudo", "-u", each.owner(), "dunnage", *words])
    return f"{shlex.join(['dunnage', *words])}  # as the user to whom it belongs"


def there(path: Path) -> bool:
    """Whether something is there, be it out of reach."""
    try:
        return path.exists()
    except OSError:
        return True


def text_of(path: Path) -> str:
    """Return the text of a file; raises DamagedError."""
    try:
        return regular_bytes(path).decode(errors="replace")
    except FileNotFoundError as error:
        raise DamagedError("is missing", path, Flaw.MISSING) from error
    except PermissionError as error:
        raise ForbiddenError(path) from error
    except OSError as error:
        what = error.strerror or str(error)
        raise DamagedError(f"cannot read: {what}", path, Flaw.UNREADABLE, what) from error


def value_of(path: Path, kind: type[V]) -> V:
    """Return the value that a file holds; raises DamagedError, also for one of a newer version."""
    text = text_of(path)
    document = parsed(text, path)
    known = kind.model_fields["version"].default
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > known:
        raise DamagedError(
            f"was written by a newer Dunnage (version {version}; this one reads {known})",
            path,
            Flaw.VERSION,
            str(version),
        )
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        fields = "1 field does" if error.error_count() == 1 else f"{error.error_count()} fields do"
        raise DamagedError(
            f"is not a {kind.__name__} that this Dunnage can read (version {version}): "
            f"{fields} not fit",
            path,
            Flaw.GARBLED,
        ) from error


def facts_of(path: Path) -> Mapping[str, Scalar]:
    """Return the facts that a file holds, by name; raises DamagedError."""
    facts = parsed(text_of(path), path)
    try:
        return _FACTS.validate_python(facts, strict=True)
    except ValidationError as error:
        raise DamagedError("is not a mapping of facts", path, Flaw.GARBLED) from error


def parsed(text: str, path: Path) -> Any:
    """Parse JSON, the text of a file; a beginning of it is told apart from what never was any.

    Raises DamagedError.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        if _ends_early(error):
            raise DamagedError("is truncated", path, Flaw.TRUNCATED) from error
        raise DamagedError(f"is not JSON: {error}", path, Flaw.GARBLED) from error


def breaks_off(text: str) -> bool:
    """Whether a file's text is seen to be but the beginning of JSON, or of lines of JSON.

    What was cut between two lines is not seen to be.
    """
    *lines, last = text.split("\n")
    return _begins(text) or (bool(last) and _begins(last) and all(map(_is_json, lines)))


def _ends_early(error: ValueError) -> bool:
    """Whether a text was JSON up to its end, by the parser's own words."""
    return str(error).startswith("EOF while parsing")


def _begins(text: str) -> bool:
    """Whether a text that is no JSON is the beginning of some."""
    try:
        from_json(text, allow_inf_nan=False)
    except ValueError as error:
        return _ends_early(error)
    return False


def _is_json(text: str) -> bool:
    try:
        from_json(text, allow_inf_nan=False)
    except ValueError:
        return False
    return True


def lines_of(text: str, kind: type[V]) -> Iterator[V]:
    """The values of a file with one on each line; a line that cannot be read is left out."""
    for line in text.splitlines():
        with suppress(ValidationError):
            yield kind.model_validate_json(line)
