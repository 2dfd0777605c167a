"""The directory of an export. It is of one result, so that files of two results never mix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from dunnage.errors import UnwrittenError, UsageError
from dunnage.model.exported import Exported
from dunnage.store.checksums import checksum
from dunnage.store.layout import ResultLayout
from dunnage.store.parse import text_of, there
from dunnage.store.regular import regular_bytes
from dunnage.store.write import write_again, write_value
from dunnage.wording.numbers import count

NAME = "export.json"
"""Says whose files these are."""

Content = Callable[[], bytes]
"""A file's content, made when it is to be written; empty where there is nothing to write."""


class ExportDirectory:
    """Where the files of one result are exported to."""

    def __init__(self, place: Path, layout: ResultLayout, study: str) -> None:
        self.place = place
        self._whose = Exported(
            study=study,
            result=layout.root.resolve().name,
            sha256=_identity(layout),
            files=(),
        )
        self._own = place.resolve().is_relative_to(layout.report.resolve())

    def insist_fit(self, names: Iterable[str], hint: str) -> None:
        """Raise UsageError where files of these names would mix with, or replace, what is not of
        this result. Nothing is removed: it may be somebody's work."""
        before = self._before()
        if before is not None and before.sha256 != self._whose.sha256:
            raise UsageError(
                f"this holds {count(len(before.files), 'file')} of another result, "
                f"`{before.study}/{before.result}`; nothing was written",
                where=str(self.place),
                hint=hint,
            )
        ours = () if before is None else (*before.files, NAME)
        others = [name for name in (*names, NAME) if name not in ours and there(self.place / name)]
        if others and not self._own:
            raise UsageError(
                f"`{others[0]}` is there already, and it is not known to be of this result; "
                "nothing was written",
                where=str(self.place),
                hint=hint,
            )

    def write(self, files: Mapping[str, Content]) -> Iterator[Path]:
        """Write files and yield their paths, and last that of the file that says whose they are.

        Of what an earlier export of this result wrote into the same directories, files that are
        not written any more are removed. Raises UnwrittenError.
        """
        before = set(known.files) if (known := self._before()) is not None else set()
        self._sign(before | set(files))  # whatever ends this, the next export knows its own files
        written: set[str] = set()
        for name, content in files.items():
            if made := content():
                yield write_again(self.place / name, made)
                written.add(name)
        kinds = {PurePosixPath(name).parent for name in files} - {PurePosixPath()}
        stale = {name for name in before - written if PurePosixPath(name).parent in kinds}
        for name in stale:
            with suppress(OSError):
                (self.place / name).unlink()
        yield self._sign((before - stale) | written)

    def _sign(self, files: Iterable[str]) -> Path:
        path = self.place / NAME
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnwrittenError(error, str(path)) from error
        write_value(path, self._whose.model_copy(update={"files": tuple(sorted(files))}))
        return path

    def _before(self) -> Exported | None:
        """Whose export is there; None where nothing says so."""
        with suppress(OSError, ValidationError):
            found = Exported.model_validate_json(regular_bytes(self.place / NAME))
            if all(_inside(name) for name in found.files):
                return found
        return None


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _identity(layout: ResultLayout) -> str:
    journal = text_of(layout.journal) if there(layout.journal) else ""
    return checksum((journal.partition("\n")[0] + text_of(layout.plan)).encode()).sha256
