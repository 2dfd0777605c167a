"""What keys of a study are called where two results differ in them, and how their values read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from dunnage.units import duration, percent, size

_Reading = Callable[[object], str]


def words(key: str) -> str:
    """A key in words; one that has none stays what it is."""
    return _WORDS.get(key, key)


def reading(key: str, value: str | None) -> str | None:
    """A value for people, from the text that a difference holds; None stays None."""
    read = _READINGS.get(key, _READINGS.get(key.rpartition(".")[2], _plain))
    if value is None or (read is _plain and not value.startswith(("[", "{"))):
        return {"True": "yes", "False": "no"}.get(value or "", value)
    try:
        return read(ast.literal_eval(value))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return value


def _plain(held: object) -> str:
    if isinstance(held, list | tuple):
        return ", ".join(map(_plain, held)) or "none"
    if isinstance(held, Mapping):
        known = {name: item for name, item in held.items() if item is not None}
        return ", ".join(f"{name} {_plain(item)}" for name, item in known.items()) or "none"
    return f"{held:.12g}" if isinstance(held, float) else str(held)


def _rates(held: object) -> str:
    return ", ".join(map(_rate, held)) if isinstance(held, list) and held else _plain(held)


def _rate(held: object) -> str:
    if not isinstance(held, Mapping) or not {"number", "share"} <= held.keys():
        return _plain(held)
    if held["share"] is None:
        return f"{_plain(held['number'])} op/s"
    return f"{percent(float(held['share']))} of the capacity"


def _workloads(held: object) -> str:
    return ", ".join(map(_workload, held)) if isinstance(held, list) else _plain(held)


def _workload(held: object) -> str:
    """`A`, or how it differs from the workload of its name."""
    if not isinstance(held, Mapping) or "name" not in held:
        return _plain(held)
    usual = {"core": held["name"], "phase": "run", "records": None}
    other = {key: item for key, item in held.items() if key != "name" and usual.get(key) != item}
    return f"{held['name']} ({_plain(other)})" if other else str(held["name"])


def _of_number(write: Callable[[float], str]) -> _Reading:
    def read(held: object) -> str:
        return write(float(held)) if isinstance(held, int | float) else _plain(held)

    return read


_TIME, _SIZE, _SHARE = map(_of_number, (duration, size, percent))
_READINGS: Mapping[str, _Reading] = {
    "load.rate": _rates,
    "workloads": _workloads,
    "load.duration": _TIME,
    "load.warmup": _TIME,
    "load.conditioning": _TIME,
    "load.turns": _TIME,
    "load.timeout": _TIME,
    "load.search.probe": _TIME,
    "load.search.precision": _SHARE,
    "load.calibration.duration": _TIME,
    "patience": _TIME,
    "deadline": _TIME,
    "time": _TIME,
    "testbed.memory": _SIZE,
    "tolerance": _SHARE,
    "slowdown": _SHARE,
    "loss": _SHARE,
}
"""By a whole key, or by its last word wherever that stands."""
_WORDS: Mapping[str, str] = {
    "load.rate": "rate of the load",
    "load.threads": "threads of the load",
    "load.connections": "connections of the load",
    "load.duration": "measured time of a run",
    "load.operations": "operations of a run",
    "load.warmup": "warm-up of a run",
    "load.conditioning": "load before the first run of a stay",
    "load.turns": "length of a turn",
    "load.arrivals": "arrivals of operations",
    "load.timeout": "time until an operation has failed",
    "load.search.probe": "length of a probe",
    "load.search.precision": "precision of the search",
    "load.search.probes": "probes of the search",
    "database.kind": "database",
    "database.version": "version of the database",
    "database.topology": "topology of the database",
    "database.members": "members of the database",
    "testbed.kind": "kind of testbed",
    "testbed.memory": "memory of a host",
    "testbed.context": "context of the cluster",
    "testbed.nodes": "nodes of the cluster",
    "testbed.image": "image of agents on nodes",
    "testbed.labels": "labels of namespaces",
    "sampler.rate": "rate of the sampler in Hz",
    "sampler.soft_interrupts": "whether soft interrupts are charged",
    "repeat": "runs of each kind in a stay",
}
