"""`dunnage init`: a study to begin with."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated

import typer

from dunnage import catalog
from dunnage.cli.shared.terminal import say, show_line, typed
from dunnage.errors import UsageError, remedy, shown, unfit_place
from dunnage.model.offer import first
from dunnage.study.suggest import hint, nearest
from dunnage.study.template import template

NAME = "init"
HELP = "Write a study file with comments, to start from."
EXAMPLES = "Examples:  dunnage init  ·  dunnage init my-study.yaml --database cassandra"
_FIRST = "study.yaml"


def command(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = Path(_FIRST),
    database: Annotated[str | None, typer.Option(help="The database that is deployed.")] = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            help="A platform to compare; may be repeated. Without it, all that fit the database."
        ),
    ] = None,
) -> None:
    """Write a template; never over a file that is there."""
    chosen = {
        "database": [database] if database is not None else [],
        "platform": platform or [],
    }
    _insist_on_offer(path, chosen)
    _insist_on_one_kind(path, chosen)
    options = _options(chosen)
    text = template(catalog.OFFER, path.stem, database, platform or ())
    try:
        _write_new(path, text)
    except FileExistsError as error:
        what = f"already exists{'' if path.is_file() else ', and is not a file'}"
        again = typed("init", _free(path), *options)
        raise UsageError(what, where=str(path), hint=again) from error
    except OSError as error:
        what = f"cannot write: {unfit_place(error) or error.strerror}"
        raise UsageError(what, where=str(path), hint=_helps(error, path, options)) from error
    show_line(str(path))
    say("next: ", (typed("plan", path), "bold"))


def _insist_on_offer(path: Path, chosen: Mapping[str, Sequence[str]]) -> None:
    """Raise UsageError for a word that is not on offer, with the command that may be meant."""
    known: Mapping[str, Collection[str]] = {
        "database": catalog.OFFER.databases,
        "platform": catalog.OFFER.platforms,
    }
    meant = {
        noun: [word if word in known[noun] else _meant(word, known[noun]) for word in words]
        for noun, words in chosen.items()
    }
    for noun, words in chosen.items():
        for word in words:
            if word not in known[noun]:
                raise UsageError(
                    f"unknown {noun} {shown(word)}; {hint(word, known[noun])}",
                    hint=typed("init", path, *_options(meant)),
                )


def _insist_on_one_kind(path: Path, chosen: Mapping[str, Sequence[str]]) -> None:
    """Raise UsageError where fakes are to meet what is real: no study could run."""
    offer = catalog.OFFER
    databases = chosen["database"] or [first(offer.databases, fake=False)]
    fake = offer.databases[databases[0]].fake
    wrong = [name for name in chosen["platform"] if offer.platforms[name].fake is not fake]
    if not wrong:
        return
    right = [name for name in chosen["platform"] if name not in wrong]
    if not chosen["database"] and not right:
        databases, right = [first(offer.databases, fake=not fake)], wrong
    kinds = ("a fake", "a real") if fake else ("a real", "a fake")
    raise UsageError(
        f"{kinds[0]} database cannot run on {kinds[1]} platform, `{wrong[0]}`",
        hint=typed("init", path, *_options({"database": databases, "platform": right})),
    )


def _meant(word: str, known: Collection[str]) -> str:
    return nearest(word, known) or next(iter(known))


def _options(chosen: Mapping[str, Sequence[str]]) -> list[str]:
    """The options as they are typed."""
    return [
        part for noun, words in chosen.items() for word in words for part in (f"--{noun}", word)
    ]


def _write_new(path: Path, text: str) -> None:
    """Write a file that was not there, whole or not at all; raises OSError."""
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise


def _helps(error: OSError, path: Path, options: Sequence[str]) -> str:
    """The command that writes the file there after all, or that writes it elsewhere."""
    unfit = bool(unfit_place(error)) or error.errno == errno.EROFS
    first = "" if unfit else remedy(error)
    if first and isinstance(error, FileNotFoundError):
        first = shlex.join(["mkdir", "-p", "--", str(path.parent)])
    elif first and isinstance(error, PermissionError):
        first = _opened(path.parent) if error.errno == errno.EACCES else ""
    if first:
        return f"{first}, then: {typed('init', path, *options)}"
    place = _elsewhere(path, unfit=unfit)
    if place is None:
        return "name a file where you may write: dunnage init FILE"
    name = _FIRST if error.errno == errno.ENAMETOOLONG else path.name
    return typed("init", _unused(place, name), *options)


def _opened(directory: Path) -> str:
    """The command that opens a directory to its owner; empty where that is somebody else."""
    with suppress(OSError):
        if directory.stat().st_uid == os.geteuid():
            return shlex.join(["chmod", "u+wx", "--", str(directory)])
    return ""


def _elsewhere(path: Path, *, unfit: bool) -> Path | None:
    """A directory that this user may write, the working directory before others, unless that was
    removed.

    `unfit`: the file system at the path takes no files, here or anywhere in it.
    """
    above = path.absolute().parents if unfit else ()
    without = next((each.stat().st_dev for each in above if each.exists()), None)
    for place in _places():
        found = place.stat() if os.access(place, os.W_OK | os.X_OK) else None
        if found is not None and found.st_nlink and found.st_dev != without:
            return place
    return None


def _places() -> Iterator[Path]:
    yield Path()
    with suppress(RuntimeError):  # nobody knows of a home
        yield Path.home()
    with suppress(OSError):  # nor of a directory for what is short-lived
        yield Path(gettempdir())


def _free(path: Path) -> Path:
    """A name near this one that nothing has."""
    beside = path if path.is_dir() else path.parent if path.is_file() else Path()
    return _unused(beside, path.name if path.is_file() else _FIRST)


def _unused(beside: Path, name: str) -> Path:
    """This name in a directory, with the lowest number that makes it free."""
    stem, suffix = Path(name).stem, Path(name).suffix
    names = (f"{stem}{f'-{number}' if number > 1 else ''}{suffix}" for number in count(1))
    places = (beside / name for name in names)
    return next(place for place in places if not (place.exists() or place.is_symlink()))
