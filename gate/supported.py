"""Whether each line of README's two tables of support links to what shows it.

`python -m gate.supported` names all mistakes at once, and ends with 1 if there are any. It runs no
test: pytest says which tests there are, and `docs/proofs.md` which proofs held.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from gate.proofs.page import HELD, PAGE, Row, cells, command, read

README = Path("README.md")
PROVEN = "## What is proven"
UNSEEN = "## What nobody has seen here"
COLUMNS = 3
"""What a line is about, what is said of it, and links to what shows it."""
REAL = frozenset({"live", "browser"})
"""Marks of tests that run against the real thing."""
PROOF = "proof"
"""Mark of tests that `make test` does not run: each has a row of its own in `docs/proofs.md`."""

Tests = Mapping[str, frozenset[str]]
"""Name of each test, as pytest writes it → its marks."""

_LINK = re.compile(r'\]\((?P<file>[^)\s]+)(?: "(?P<title>[^"]+)")?\)')


@dataclass(frozen=True)
class Link:
    """A link of the last column. Its title names a test of a file, or one with a row of proofs."""

    file: str
    title: str

    @property
    def of_proofs(self) -> bool:
        """Whether it leads to the page of proofs, where tests go by their whole names."""
        return self.file == str(PAGE)

    @property
    def test(self) -> str:
        """The name of a test; without a case in brackets it stands for all cases."""
        return self.title if self.of_proofs else f"{self.file}::{self.title}"

    def cases(self, tests: Tests) -> list[str]:
        """Those tests that it means."""
        return [each for each in tests if each == self.test or each.startswith(f"{self.test}[")]


def wrong(text: str, tests: Tests, held: Collection[str]) -> list[str]:
    """Every mistake of both tables, each with the line that it is in.

    `tests` are all tests of the files that the tables link to. `held` are the proofs that held.
    """
    found = []
    for heading, judged in ((PROVEN, _proven), (UNSEEN, _unseen)):
        lines = _lines(text, heading)
        if not lines:
            found.append(f"{README}: there is no table below `{heading}`")
        for line in lines:
            if len(line) == COLUMNS:
                found += [f"{line[0]}: {what}" for what in judged(line, tests, held)]
            else:
                found.append(f"{line[0]}: it has {len(line)} columns and not {COLUMNS}")
    return found


def _proven(line: Sequence[str], tests: Tests, held: Collection[str]) -> Iterator[str]:
    """What is wrong with a line that says that something is proven."""
    links = _links(line)
    if not links:
        yield "no link shows it"
    for link in links:
        yield from _broken(link, tests)
        for test in link.cases(tests):
            if PROOF in tests[test]:
                if test not in held:
                    yield f"{PAGE} does not say that this held: {command(test)}"
            elif link.of_proofs:
                yield f"{PAGE} has no row of it, as it is no proof: {test}"
    cases = [test for link in links for test in link.cases(tests)]
    if cases and not any(tests[test] & REAL for test in cases):
        yield "none of its tests runs against the real thing"


def _unseen(line: Sequence[str], tests: Tests, _: Collection[str]) -> Iterator[str]:
    """What is wrong with a line that says why nobody has seen something."""
    if not line[1]:
        yield "no reason is given"
    for link in _links(line):
        yield from _broken(link, tests)


def _broken(link: Link, tests: Tests) -> Iterator[str]:
    if not link.title:
        yield f"the title of this link names no test: {link.file}"
    elif not link.cases(tests):
        yield f"there is no such test: {link.test}"


def _lines(text: str, heading: str) -> list[list[str]]:
    """The cells of each line of the table below a heading, without those of its head."""
    section = f"\n{text}".partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    return [cells(line) for line in section.splitlines() if line.startswith("|")][2:]


def _links(line: Sequence[str]) -> list[Link]:
    return [Link(each["file"], each["title"] or "") for each in _LINK.finditer(line[-1])]


def files(text: str) -> list[str]:
    """The modules of tests that the tables link to, except those that do not exist."""
    lines = [line for heading in (PROVEN, UNSEEN) for line in _lines(text, heading)]
    named = {link.test.partition("::")[0] for line in lines for link in _links(line)}
    return sorted(each for each in named if each.endswith(".py") and Path(each).is_file())


def held(rows: Mapping[str, Row]) -> set[str]:
    """The tests with rows that say that their claim held."""
    return {test for test, row in rows.items() if row.last.held == HELD}


class _Found:
    """Hears from pytest which tests there are."""

    def __init__(self) -> None:
        self.tests: dict[str, frozenset[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.tests = {
            item.nodeid: frozenset(mark.name for mark in item.iter_markers())
            for item in session.items
        }


def collected(modules: Sequence[str]) -> Tests:
    """All tests of some modules, which are loaded but not run.

    What pytest says of a module that cannot be loaded goes to standard error.
    """
    if not modules:  # pytest would take every test of the project
        return {}
    os.environ.pop("PYTEST_ADDOPTS", None)  # might leave tests out
    found, said = _Found(), io.StringIO()
    options = ("--collect-only", "-qq", "--capture=no", "-p", "no:cacheprovider")
    with contextlib.redirect_stdout(said):
        code = pytest.main([*options, *modules], plugins=[found])
    if code:
        print(said.getvalue(), file=sys.stderr)
    return found.tests


def main() -> int:
    """Print every mistake; 0 when there is none, else 1."""
    text = README.read_text(encoding="utf-8")
    found = wrong(text, collected(files(text)), held(read()))
    print("\n".join(found) or f"{README}: what its tables say is shown by what they link to")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
