"""The six YCSB core workloads, as YCSB's own workload files have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NOTHING = dict.fromkeys(("read", "update", "insert", "scan", "read_modify_write"), 0.0)
_MIXES: Mapping[str, Mapping[str, float]] = {
    "A": {"read": 0.5, "update": 0.5},  # update heavy
    "B": {"read": 0.95, "update": 0.05},  # read mostly
    "C": {"read": 1.0},  # read only
    "D": {"read": 0.95, "insert": 0.05},  # read latest
    "E": {"scan": 0.95, "insert": 0.05},  # short ranges
    "F": {"read": 0.5, "read_modify_write": 0.5},
}
CORE: Mapping[str, Mapping[str, Any]] = {
    core: {
        "insert_start": 0,
        "insert_count": None,
        "mix": {**_NOTHING, **mix},
        "requests": {"kind": "latest" if core == "D" else "zipfian"},
        "fields": 10,
        "field_prefix": "field",
        "field_lengths": {"kind": "constant", "length": 100},
        "read_fields": "all",
        "write_all_fields": False,
        "scan_lengths": {"kind": "uniform", "shortest": 1, "longest": 100},
        "integrity": False,
        "hashed_keys": True,
        "zero_padding": 1,
    }
    for core, mix in _MIXES.items()
}
"""Letter → what the engine's plan says of the workload, but for its number of records."""
