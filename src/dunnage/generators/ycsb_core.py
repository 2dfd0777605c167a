"""The six YCSB core workloads, as YCSB's own workload files have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_OPERATIONS = ("read", "update", "insert", "scan", "read_modify_write")


@dataclass(frozen=True)
class CoreWorkload:
    """What distinguishes one core workload; `mix` holds shares of operations that add up to one."""

    title: str
    mix: Mapping[str, float]
    request_distribution: str = "zipfian"
    fields: int = 10
    field_length: int = 100
    read_all_fields: bool = True
    write_all_fields: bool = False
    max_scan_length: int = 100
    hashed_keys: bool = True
    zero_padding: int = 1

    @property
    def shares(self) -> Mapping[str, float]:
        """The share of every operation type, zero where the workload has none of it."""
        return {**dict.fromkeys(_OPERATIONS, 0.0), **self.mix}


CORE: Mapping[str, CoreWorkload] = {
    "A": CoreWorkload("Update heavy", {"read": 0.5, "update": 0.5}),
    "B": CoreWorkload("Read mostly", {"read": 0.95, "update": 0.05}),
    "C": CoreWorkload("Read only", {"read": 1.0}),
    "D": CoreWorkload("Read latest", {"read": 0.95, "insert": 0.05}, "latest"),
    "E": CoreWorkload("Short ranges", {"scan": 0.95, "insert": 0.05}),
    "F": CoreWorkload("Read-modify-write", {"read": 0.5, "read_modify_write": 0.5}),
}
"""By letter."""
