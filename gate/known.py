"""What is known of a test before it runs: its marks, its limit, and what is made for it and others.

The gate itself needs no pytest for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_ONCE = ("class", "module")
"""Scopes of fixtures that are made once for several tests."""


@dataclass(frozen=True)
class Known:
    """A test that pytest found."""

    test: str
    marks: frozenset[str] = frozenset()
    limit: float = math.inf
    """Seconds that it may take; infinite where nobody set a limit."""
    made_for: str = ""
    """The same for all tests that use something which is made once for them."""


def made_for(item: pytest.Item) -> str:
    """The module of a test that uses what is made once, and for which cases; else its own name."""
    found = getattr(item, "_fixtureinfo", None)
    fixtures = found.name2fixturedefs if found else {}
    once = sorted(name for name, each in fixtures.items() if each and each[-1].scope in _ONCE)
    if not once:
        return item.nodeid
    cases = getattr(getattr(item, "callspec", None), "indices", {})
    module = item.nodeid.partition("::")[0]
    return " ".join([module, *(f"{name}={cases[name]}" for name in once if name in cases)])


def belongs(test: str, name: str) -> bool:
    """Whether a test has a name, or is one of the module, class or test that has it."""
    return test == name or test.startswith((f"{name}::", f"{name}["))
