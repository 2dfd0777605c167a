"""What gates saw and what they would have accepted, of one run or of several alike ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from dunnage.analysis.checks import against
from dunnage.analysis.groups import grouped
from dunnage.model.check import CheckResult, Reading, Status, Why
from dunnage.wording.alike import NAMES_SHOWN, kind
from dunnage.wording.readings import SENTENCES, places, shown

Kind = tuple[str, Status]
"""A gate, and whether it found something or could not tell."""
CAUSES: Mapping[Kind, str] = {
    ("files", Status.UNKNOWN): "files of the result are damaged",
    ("clock", Status.INVALID): "the clock of a host was set while it was measured",
    ("parity", Status.INVALID): "the deployments did not run the same thing",
    ("parity", Status.UNKNOWN): "it is not known whether the deployments ran the same thing",
    (
        "members",
        Status.INVALID,
    ): "a member died, was not ready at the end or had no room for its data",
    (
        "connections",
        Status.INVALID,
    ): "clients connected to other addresses than the one under study",
    ("parts", Status.INVALID): "not every load generator took part",
    ("slowdown", Status.INVALID): "the declared slowdown was missed",
    ("steal", Status.INVALID): "other users of this physical machine took processor time",
    ("other load", Status.INVALID): "other programs on this machine were busy",
    ("swap", Status.INVALID): "memory was swapped to disk",
    ("throttled", Status.INVALID): "a CPU quota that the study does not name held processes back",
    ("errors", Status.INVALID): "operations failed",
    ("samples", Status.INVALID): "the hosts were not watched all the time",
    ("client", Status.INVALID): "the load generator was at its own limit",
    ("schedule", Status.INVALID): "the load generator could not keep its own schedule",
    ("search", Status.INVALID): "the search for saturation did not end",
    ("steady", Status.INVALID): "the database was not steady: its throughput still changed",
    ("duration", Status.INVALID): "the run was too short",
    ("idle", Status.INVALID): "deployments were busy while others had their turns",
    ("control", Status.INVALID): "the orchestrator's manager took processor time of the clients",
}
"""Kind → what a newcomer should read, causes before what they bring about: stolen processor time
makes a client busy and a run unsteady, never the other way round. Where a gate could not tell, that
is mostly the same for all of them."""

_Parts = tuple[str, ...]
"""Pieces of a sentence. `{what}` is an amount and `{what@}` where it was read; a piece of which
something was not read is left out."""

_SEEN: Mapping[tuple[str, Why], _Parts] = {
    ("members", Why.MEASURED): (
        "{ended@} died ({ended})",
        "; not ready after the load: {silent@} ({silent})",
        "; only {room} are left for the data of {room@}",
        "{ran} ran to the end",
    ),
    ("errors", Why.NOTHING): ("no operation was answered",),
    ("errors", Why.MEASURED): ("{errors} of {operations} operations", " ({kinds})"),
    ("errors", Why.OVER_CAPACITY): (
        "{errors} of {operations} operations",
        " ({kinds})",
        ", {in window} of them before the end of the window: over capacity",
    ),
    ("client", Why.MEASURED): (
        "busiest client thread {busy} of one processor",
        ", at its limit for {limited} of the time",
    ),
    ("schedule", Why.NOT_ASKED): ("closed loop: there is no schedule",),
    ("schedule", Why.NOT_KNOWN): ("the offered rate is not known",),
    ("schedule", Why.MEASURED): ("{achieved} of {offered}, lag at the end {lag}",),
    ("schedule", Why.CLIENT_LATE): (
        "{achieved} of {offered}, lag at the end {lag}, growing by {growth} a second: the client "
        "could not keep the schedule",
    ),
    ("schedule", Why.OVER_CAPACITY): (
        "{achieved} of {offered}, lag at the end {lag}, growing by {growth} a second: over "
        "capacity",
    ),
    ("search", Why.NOT_ASKED): ("no search",),
    ("search", Why.NOTHING): ("none of {probes} probes was sustained",),
    ("search", Why.NONE_REFUSED): (
        "{probes} probes; {sustained} was sustained, and no higher rate was refused",
    ),
    ("search", Why.CLIENT_LIMIT): (
        "{probes} probes; {sustained} was sustained, {refused} was not, because of the client's "
        "limit",
    ),
    ("search", Why.MEASURED): ("{probes} probes; {sustained} was sustained, {refused} was not",),
    ("steady", Why.NOT_ASKED): ("load phase: the database grows",),
    ("steady", Why.TOO_SHORT): ("too few windows of ten operations: too short to tell",),
    ("steady", Why.MEASURED): (
        "{change} over {windows} windows",
        ", its hosts' own speed {speed}",
        ", {empty} empty",
    ),
    ("steady", Why.MOVED): ("{trend} from its first to its last third",),
    ("swap", Why.NOT_ASKED): ("the machine has no swap",),
    ("swap", Why.MEASURED): ("{swap} on {swap@}",),
    ("steal", Why.MEASURED): ("{steal} seen by {steal@}",),
    ("other load", Why.MEASURED): ("{others} used by others", " (busiest: {processes})"),
    ("iowait", Why.MEASURED): ("{iowait} of CPU time seen by {iowait@}",),
    ("samples", Why.NOTHING): ("no host was watched",),
    ("samples", Why.MEASURED): ("{samples} samples, {expected} expected",),
    ("samples", Why.INCOMPLETE): (
        "{samples} of {expected} samples on {samples@}",
        "; no CPU counter on {uncovered@} ({uncovered})",
    ),
    ("connections", Why.NOT_KNOWN): ("the generator did not report where it connected to",),
    ("connections", Why.OUTSIDE): ("connections left the endpoint: {address}",),
    ("connections", Why.MEASURED): ("{address}",),
    ("throttled", Why.MEASURED): ("{throttled}, {throttled@}",),
    ("throttled", Why.QUOTA): ("{throttled}, {throttled@}",),
    ("files", Why.DAMAGED): ("{file}: {file@}",),
    ("slowdown", Why.NOT_ASKED): ("none is declared",),
    ("slowdown", Why.NOT_KNOWN): ("it was not read back",),
    ("slowdown", Why.MEASURED): ("{paused} of the time",),
    ("parts", Why.MEASURED): ("{engines} engines",),
    ("duration", Why.MEASURED): ("{measured}",),
    ("clock", Why.NOT_KNOWN): ("no clock was read",),
    ("clock", Why.MEASURED): ("moved by {moved} at most",),
    ("clock", Why.SET): (
        "the clock of {back@} was set back by {back}",
        "the clock of {ahead@} was set ahead by {ahead}",
    ),
    ("idle", Why.NOT_ASKED): ("no other deployments ran at the same time",),
    ("idle", Why.NOT_KNOWN): ("no two readings are in one turn of another deployment",),
    ("idle", Why.MEASURED): ("{idle} of one processor",),
    ("control", Why.NOT_ASKED): ("no host directs others",),
    ("control", Why.MEASURED): ("{control} of one processor",),
}

_ALLOWED: Mapping[str, _Parts] = {
    "files": ("as they were written",),
    "members": (
        "every member runs to the end, is ready then, and has at least {room} for its data",
    ),
    "errors": ("at most {errors} of operations",),
    "client": ("below {busy}", ", at its limit for at most {limited} of the time"),
    "schedule": (
        "at least {achieved} of the offered rate and no growing backlog, or else the deployment's "
        "limit and not the client's",
    ),
    "search": ("at most {precision} below a rate that is too high",),
    "steady": ("no window without an answer; its change is compared with the study's other runs",),
    "swap": ("at most {swap}",),
    "steal": ("below {steal} of CPU time",),
    "other load": ("below {others} of the machine's CPU time",),
    "iowait": ("none: shown because it explains",),
    "samples": ("at most {missing} or one missing, the window covered, on every host",),
    "connections": ("only addresses of the endpoint: {address}",),
    "throttled": ("at most {throttled}",),
    "slowdown": ("{paused} of the time, at most {miss} more or less",),
    "parts": ("{engines} engines",),
    "duration": ("at least {measured}",),
    "clock": ("no host's clock set by more than {moved}",),
    "idle": ("at most {idle} of one processor in the turns of others",),
    "control": (
        "at most {control} of one processor, unless its deployment exceeds this more often than "
        "the others",
    ),
}
_ALLOWED_WHY: Mapping[tuple[str, Why], _Parts] = {
    ("schedule", Why.NOT_ASKED): ("none in a closed loop",),
    ("search", Why.NOT_ASKED): ("none at a set level",),
    ("steady", Why.NOT_ASKED): ("none in a load phase",),
    ("steady", Why.TOO_SHORT): ("at least {windows} windows of ten operations",),
    ("steady", Why.MOVED): (
        "within {most} of its deployment's median: {runs} runs of this study moved by {spread} "
        "(one standard deviation)",
    ),
    ("throttled", Why.QUOTA): ("a quota is under study",),
    ("files", Why.DAMAGED): ("{file}: {file@}",),
    ("slowdown", Why.NOT_ASKED): ("none is declared",),
    ("idle", Why.NOT_ASKED): ("none where no turns are taken",),
    ("control", Why.NOT_ASKED): ("none where no host directs others",),
}
"""Where the case decides what is allowed, and not the gate alone."""


def cause(what: Kind) -> str:
    """What stood against a run, in plain words."""
    gate, status = what
    vague = f"the check `{gate}` could not be made" if status is Status.UNKNOWN else gate
    return CAUSES.get(what, vague)


def seen(*checks: CheckResult) -> str:
    """What a gate saw, of one run or of several that are `alike`."""
    first, readings = checks[0], [reading for check in checks for reading in check.seen]
    if first.why is Why.WRITTEN:
        return shown(readings)
    if first.why is Why.CRASHED:
        return f"the check failed: {shown(readings)}"
    if first.why is Why.UNSEEN:
        return f"cannot be judged: {shown(readings)}"
    parts = _SEEN.get((first.check, first.why))
    if parts is None:
        reason = shown(readings) if readings else "no host reported it"
        return f"not known: {reason}"
    return _filled(parts, readings, _most(checks))


def allowed(*checks: CheckResult) -> str:
    """What it would have accepted."""
    first, readings = checks[0], [reading for check in checks for reading in check.allowed]
    if first.why is Why.WRITTEN:
        return shown(readings)
    if first.why is Why.CRASHED:
        return "a check that completes"
    return _filled(
        _ALLOWED_WHY.get((first.check, first.why), _ALLOWED[first.check]), readings, _most(checks)
    )


def failed(checks: Iterable[CheckResult]) -> str:
    """All gates that stand against a run, with what they saw: `steal: 9.0 % seen by db-1; …`."""
    return "; ".join(dict.fromkeys(map(_one, against(checks))))


def _one(check: CheckResult) -> str:
    return f"{check.check}: {seen(check)}" if check.check else seen(check)


def alike(check: CheckResult) -> tuple[str, ...]:
    """Checks with the same key say the same but for amounts and places."""
    said = [
        f"{reading.what}={kind(str(reading.value)) if reading.what in SENTENCES else ''}"
        f"{reading.where if reading.what == 'kind' else ''}"
        for reading in (*check.seen, *check.allowed)
        if reading.what != "process"  # who it was is no part of what is said
    ]
    return (check.check, check.status, check.why, *sorted(set(said)))


def _most(checks: Sequence[CheckResult]) -> int | None:
    """How many names are said: all of one run, some of several."""
    return None if len(checks) == 1 else NAMES_SHOWN


def _filled(parts: Sequence[str], readings: Sequence[Reading], most: int | None) -> str:
    by_what = grouped(readings, lambda reading: reading.what)
    words = {what: shown(found, most) for what, found in by_what.items()}
    words |= {f"{what}@": places(found, most) for what, found in by_what.items()}
    if kinds := by_what.get("kind"):
        words["kinds"] = ", ".join(
            f"{shown(alike)} {kind}"
            for kind, alike in grouped(kinds, lambda reading: reading.where).items()
        )
    if processes := by_what.get("process"):
        words["processes"] = _names(processes, most)
    said = ""
    for part in parts:
        with suppress(KeyError):
            said += part.format_map(words)
    return said.removeprefix("; ")


def _names(readings: Sequence[Reading], most: int | None) -> str:
    """Who used most, the busiest first.

    What each used is not said: processes are looked at before and after all that belongs to a run,
    and so are no parts of what was used in its measured window.
    """
    by_name = grouped(readings, lambda reading: reading.where)
    ranked = sorted(by_name.items(), key=lambda item: -max(float(one.value) for one in item[1]))
    return ", ".join(name for name, _ in ranked[:most])
