"""A study as verbs take it: its file, its plan, about how long it takes; their options for that."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer

from dunnage import capabilities, catalog
from dunnage.analysis.fit import fit, fitted
from dunnage.cli.shared import completion
from dunnage.cli.shared.terminal import Format, formatted, say, say_wrapped, typed
from dunnage.errors import Problem, StudyError, UsageError
from dunnage.model.deployment import Deployment
from dunnage.model.plan import Plan, Skipped
from dunnage.model.remembered import Pace
from dunnage.model.study import Study
from dunnage.software.cache import default_root
from dunnage.store.machine_log import remembered, this_machine
from dunnage.store.newest import RESULTS
from dunnage.store.regular import regular_bytes
from dunnage.study.document import MOST_LETTERS
from dunnage.study.expected_time import estimate_seconds
from dunnage.study.matrix import deployments
from dunnage.study.part import filter_plan
from dunnage.study.plan import make_plan
from dunnage.study.read import odd, read_stored_study, read_study
from dunnage.study.room import beyond, excesses
from dunnage.study.scale import readable_share, scaled
from dunnage.units import size

ResultArgument = Annotated[
    Path,
    typer.Argument(
        help="A result, or a directory of results: its newest one.",
        autocompletion=completion.results,
    ),
]

OnlyOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Only runs with this deployment, workload or level; may be repeated.",
        autocompletion=completion.only,
    ),
]

ScaleOption = Annotated[
    str | None,
    typer.Option(
        "--scale",
        help="For a quick try: reduce records, measured time and blocks to this share, such as "
        "`10%`. The result shows that the study works; do not use its numbers.",
    ),
]

A_DAY = 86_400.0
"""Seconds; a longer study is started only when the user says so."""
FAKE_RUN_SECONDS = 0.08
"""What a run of fakes takes of our own time on an ordinary machine: files and checks."""
FAKE_PACE = 0.008
"""Such seconds for each second of the clock of fake hosts: what they measure is written, too."""
STUDIES = Path("studies")
"""Directory of the studies that come with Dunnage."""

_MOST_BYTES = 4 * MOST_LETTERS + 1
"""Of a study file: enough to see that it is too long, and no more, whatever the file is."""
_STANDARD_INPUT = Path("-")
"""What other programs take for it."""
_MOST_FILES = 1000
_MOST_PACES = 200


def study_at(path: Path, scale: str | None = None) -> tuple[Study, str]:
    """Read a study file, made smaller by `scale` if given, with the text that says so.

    What is odd about its load is said. Raises StudyError with all its problems, UsageError for a
    share that is none.
    """
    try:
        content = regular_bytes(path, _MOST_BYTES)
    except OSError as error:
        what = f"cannot read the study: {error.strerror}"
        if path == _STANDARD_INPUT:
            what = "a study is read from a file, never from standard input"
        raise UsageError(what, where=str(path), hint=_near(path)) from error
    text = written = _decoded(content, path)
    study = read_study(text, str(path), catalog.OFFER)
    if study.time is not None:
        chosen = fit(study, deployments(study, catalog.OFFER), _paces())
        text = fitted(text, study, chosen)
        study = read_study(text, str(path), catalog.OFFER)
        say(f"chosen for the time: {chosen.why}")
    for found in odd(written, study):
        say_wrapped(f"line {found.line}: {found.what}; {found.hint}", "yellow")
    if scale is None:
        return study, text
    try:
        smaller = scaled(text, study, readable_share(scale))
    except ValueError as error:
        raise UsageError(
            f"`--scale`: {error}", hint=typed("plan", path, "--scale", "10%")
        ) from error
    return read_stored_study(smaller, str(path), catalog.OFFER), smaller


def _paces() -> tuple[Pace, ...]:
    """What earlier results of this machine took and how restless they were, the latest last."""
    return tuple(remembered(default_root() / "pace", this_machine(), Pace)[-_MOST_PACES:])


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        if len(content) == _MOST_BYTES:
            return content.decode(errors="replace")  # its length is what is told
        line = content.count(b"\n", 0, error.start) + 1
        what = f"this is not UTF-8 text: it holds the byte 0x{content[error.start]:02x}"
        problem = Problem(line, what, "save the file as UTF-8")
        raise StudyError(str(path), (problem,), hint=typed("plan", path)) from None


def _near(path: Path) -> str:
    """The command for the study that was probably meant; else the one that writes a first study."""
    if path == _STANDARD_INPUT or (_there(path) and not path.is_dir()):  # such as a pipe
        return typed("plan", "FILE")
    if _there(path / "plan.json"):
        return typed("report", path)
    places = (path, path.parent, STUDIES)
    studies = chain.from_iterable(_studies(place) for place in places)
    by_name = {study.stem: study for study in studies}
    for name in get_close_matches(path.stem, by_name, n=1):
        return typed("plan", by_name[name])
    fits = path.suffix and _there(path.parent) and os.access(path.parent, os.W_OK)
    return typed("init", path) if fits else typed("init")


def _studies(place: Path) -> list[Path]:
    try:
        return [file for file in islice(place.iterdir(), _MOST_FILES) if file.suffix == ".yaml"]
    except OSError:
        return []


def planned(study: Study, only: Sequence[str] = (), path: Path | None = None) -> tuple[Plan, float]:
    """Plan a study, which is in `path`, and estimate its seconds.

    Raises UnavailableError with every reason when a deployment cannot run here, unless the study
    says `unavailable: skip`.
    """
    runnable, skipped = capabilities.available(study, deployments(study, catalog.OFFER))
    return _planned(study, runnable, skipped, only, path)


def foreseen(
    study: Study, only: Sequence[str] = (), path: Path | None = None
) -> tuple[Plan, float, tuple[tuple[Skipped, str], ...]]:
    """Plan a study whether or not it can run here; also what is missing, and what may help.

    Where the study says `unavailable: skip`, what cannot run is skipped as a run would skip it.
    """
    every = deployments(study, catalog.OFFER)
    missing = capabilities.lacking(study, every)
    if study.unavailable == "skip" and len(missing) < len(every):
        skipped = {each.deployment: each for each, _ in missing}
        runnable = [each for each in every if each.name not in skipped]
        return *_planned(study, runnable, tuple(skipped.values()), only, path), ()
    plan, seconds = _planned(study, every, (), only, path)
    left = {deployment.name for deployment in plan.deployments}
    return plan, seconds, tuple(each for each in missing if each[0].deployment in left)


def _planned(
    study: Study,
    runnable: Sequence[Deployment],
    skipped: Sequence[Skipped],
    only: Sequence[str],
    path: Path | None,
) -> tuple[Plan, float]:
    plan = make_plan(study, runnable, skipped)
    if only:
        try:
            plan = filter_plan(plan, only)
        except UsageError as error:
            error.hint = typed("plan", path or "STUDY", "--runs")
            raise
    return plan, seconds_of(plan, study, _paces())


def seconds_of(plan: Plan, study: Study, paces: Sequence[Pace] = ()) -> float:
    """About how many seconds a plan takes here; with fakes, on an ordinary machine.

    The clock of fake hosts runs ahead of ours.
    """
    estimated = estimate_seconds(plan, study, paces)
    if catalog.OFFER.testbeds[study.testbed.kind].fake:
        return FAKE_RUN_SECONDS * sum(1 for _ in plan.runs()) + FAKE_PACE * estimated
    return estimated


def without_room(study: Study, deployments: int) -> str:
    """Say what the records may be too many for; return what they certainly are too many for."""
    hosts = catalog.OFFER.testbeds[study.testbed.kind]
    if hosts.fake or not hosts.here:
        return ""
    room = catalog.room()
    for excess in excesses(study, deployments, room):
        warning = (
            f"the records need {size(excess.needed)} where each host holds all of them; the "
            f"{excess.what} is {size(excess.available)}"
        )
        say_wrapped(warning, "yellow")
    found = beyond(study, room)
    if found is None:
        return ""
    return (
        f"{study.records:,} records need {size(found.needed)}, and the {found.what} is "
        f"{size(found.available)} at most: write fewer `records`"
    )


def given(
    *,
    only: Sequence[str] = (),
    scale: str | None = None,
    blocks: str | None = None,
    rates_of: Path | None = None,
    results: Path = RESULTS,
    keep: bool = False,
    format_: Format = Format.TEXT,
) -> list[object]:
    """Options as they were typed, for a command that is to do the same."""
    options: list[tuple[object, ...]] = [("--only", name) for name in only]
    options += [("--scale", scale)] if scale else []
    options += [("--blocks", blocks)] if blocks else []
    options += [("--rates-of", rates_of)] if rates_of else []
    options += [("--results", results)] if results != RESULTS else []
    options += [("--keep",)] if keep else []
    options += [tuple(formatted(format_))]
    return [word for option in options for word in option]


def _there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False  # no file could have such a name
