"""Of what a program's CPU time is made, by the functions that a profile found it in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum


class Part(StrEnum):
    """What a function is for. What a compiler put into another function belongs to that one."""

    KERNEL = "kernel"
    DRIVER = "driver"
    RUNTIME = "asynchronous runtime"
    MEMORY = "taking and giving memory"
    COPYING = "copying and comparing bytes"
    LOAD = "load and record"
    OTHER = "other"


_NAMES: tuple[tuple[Part, re.Pattern[str]], ...] = (
    (
        Part.MEMORY,
        re.compile(
            r"^(_int_(malloc|free|realloc|memalign)|malloc_consolidate|unlink_chunk|sysmalloc|"
            r"(__|__libc_)?(malloc|calloc|realloc|free)$|__rust(c::)?_|cfree)"
        ),
    ),
    (Part.COPYING, re.compile(r"^(__)?mem(move|cpy|set|cmp|chr)")),
    (Part.DRIVER, re.compile(r"scylla|dunnage_engine::drive")),
    (Part.LOAD, re.compile(r"dunnage_engine|hdrhistogram|rand_xoshiro|clock_gettime")),
    (Part.RUNTIME, re.compile(r"tokio|futures|mio::|core::future|core::pin|core::task")),
)
"""The first that fits. A driver is `scylla`, or one of the engine's own."""
_LINE = re.compile(r"^\s*(\d+)\s*;([^;]*);\[(.)\] (.*)$", re.MULTILINE)


def part(kernel: bool, function: str) -> Part:
    """What a function is for, by its name."""
    if kernel:
        return Part.KERNEL
    return next((part for part, name in _NAMES if name.search(function)), Part.OTHER)


def samples(said: str) -> Counter[Part]:
    """How many samples each part has, of what `perf report -F sample,dso,sym` printed with `;`
    between columns."""
    found: Counter[Part] = Counter()
    for count, where, function in _functions(said):
        found[part(where == "k", function)] += count
    return found


def _functions(said: str) -> Iterator[tuple[int, str, str]]:
    for count, _, where, function in _LINE.findall(said):
        yield int(count), where, function.strip()
