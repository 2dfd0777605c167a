"""What a shell offers while a command is typed: studies, results and the names inside of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import typer

from dunnage import catalog
from dunnage.errors import DunnageError
from dunnage.model.study import Study
from dunnage.store.newest import RESULTS
from dunnage.store.regular import regular_bytes
from dunnage.study.matrix import deployments, levels
from dunnage.study.read import read_study

_MOST_FILES = 1000
_MOST_BYTES = 1_000_000


def studies(incomplete: str) -> list[str]:
    """Study files here and in `studies/`; none where a shell's own files are better."""
    found = [*_entries(Path(), "*.yaml"), *_entries(Path("studies"), "*.yaml")]
    return _matching(map(str, found), incomplete)


def results(incomplete: str) -> list[str]:
    """Results below `results/`: every study's directory, and its results once it is typed."""
    by_study = _entries(RESULTS, "*")
    within = [entry for study in by_study for entry in _entries(study, "*/plan.json")]
    if not incomplete.startswith(tuple(f"{study}/" for study in by_study)):
        return _matching(map(str, by_study), incomplete)
    return _matching((str(plan.parent) for plan in within), incomplete)


def only(context: typer.Context, incomplete: str) -> list[str]:
    """Deployments, workloads and levels of the study on the command line."""
    study = _study(context)
    if study is None:
        return []
    names = (
        *(deployment.name for deployment in deployments(study, catalog.OFFER)),
        *(workload.name for workload in study.workloads),
        *(level.name for level in levels(study.load)),
    )
    return _matching(names, incomplete)


def deployments_of(context: typer.Context, incomplete: str) -> list[str]:
    """Deployments of the study on the command line."""
    study = _study(context)
    if study is None:
        return []
    return _matching((each.name for each in deployments(study, catalog.OFFER)), incomplete)


def _study(context: typer.Context) -> Study | None:
    """The study that is named on the command line; None where none can be read."""
    # An option without its value ends the parsing before arguments have their names.
    path = context.params.get("study") or next(iter(context.args), None)
    if path is None:
        return None
    try:
        text = regular_bytes(Path(path), _MOST_BYTES).decode()
        return read_study(text, str(path), catalog.OFFER)
    except (OSError, ValueError, DunnageError):
        return None


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})


def _entries(place: Path, pattern: str) -> list[Path]:
    try:
        return list(islice(place.glob(pattern), _MOST_FILES))
    except OSError:
        return []
