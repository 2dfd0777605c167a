"""A deployment beside the same by hand, with ways that only tell how long they took."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from beside_hand import Wanted, Way, compare, wanted

DESCRIPTION = "What it takes.\n\nBoth make one.\n"


@pytest.fixture
def order() -> list[str]:
    return []


def way(name: str, seconds: list[tuple[float, float]], order: list[str]) -> Way:
    left: Iterator[tuple[float, float]] = cycle(seconds)

    def once() -> tuple[float, float]:
        order.append(name)
        return next(left)

    return once


def test_both_take_turns_and_the_page_has_every_pair_and_the_goals(
    order: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "docs" / "page.md"
    ours = way("ours", [(1.1, 3.0), (1.2, 2.9)], order)
    hand = way("hand", [(1.0, 1.0)], order)
    compare(ours, hand, Wanted(6, page), DESCRIPTION)
    assert order == ["hand", "ours", "ours", "hand"] * 3
    said = capsys.readouterr()
    assert said.out == page.read_text()
    assert said.out.startswith("# What it takes\n\nBoth make one.\n\n")
    assert "| 2 | 1.20 s | 1.00 s | 2.90 s | 1.00 s |" in said.out
    assert "| up | 1.15 (1.09–1.21) | ≤ 1.2: not settled |" in said.out
    assert "| down | 2.95 (2.89–3.01) | ≤ 1.2: missed |" in said.out
    assert said.err.splitlines()[-1] == "pair 6 of 6"


def test_no_pair_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["swarm.py", "--pairs", "0"])
    with pytest.raises(SystemExit):
        wanted(DESCRIPTION)
    assert "--pairs: 1 or more" in capsys.readouterr().err
