"""What stops cost, out of pieces of time with stops and without, where the truth is known."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dunnage.findings.losses.toggled import centre, lost, pairs
from dunnage.model.deployment import PAUSE_PERIOD
from dunnage.model.record import Window

RATE = 40_000.0
PIECE = 0.3


def windows(first: float, shares: float, seconds: float = 60.0) -> list[Window]:
    """A time line that loses a share in every other piece, evenly; pieces begin at `first`."""
    edges = np.arange(round(seconds / 0.05) + 1) * 0.05

    def until(time: float) -> float:
        rounds, rest = divmod(time - first, 2 * PIECE)
        held = rounds * PIECE + min(rest, PIECE)
        return RATE * (time - shares * held)

    counts = [round(until(b)) - round(until(a)) for a, b in pairwise(edges)]
    return [
        Window(start=float(edge), length=0.05, operations=count, errors=0)
        for edge, count in zip(edges, counts, strict=False)
    ]


@given(st.floats(0.0, 0.2), st.floats(-1.0, 1.0))
def test_an_even_loss_is_found_wherever_pieces_begin(share: float, first: float) -> None:
    found = pairs(windows(first, share), 0.0, first, PIECE)
    assert len(found) in (98, 99, 100)
    # A window over an edge belongs to both sides by its time: a sixth of the loss may go astray.
    assert np.mean(found) == pytest.approx(math.log1p(-share), abs=share / 4 + 1e-3)


def stopped(share: float, begin: float, seconds: float = 60.0) -> list[Window]:
    """A time line with a whole stop at the beginning of every period of the pieces held."""
    length = share * PAUSE_PERIOD
    stops = [
        (at, at + length)
        for number in range(math.ceil(seconds / PAUSE_PERIOD) + 1)
        if number // round(PIECE / PAUSE_PERIOD) % 2 == 0
        for at in (begin + number * PAUSE_PERIOD,)
    ]
    edges = np.arange(round(seconds / 0.05) + 1) * 0.05
    lost = sum(np.clip(edges - start, 0.0, end - start) for start, end in stops)
    answered = np.round(RATE * (edges - lost)).astype(int)
    return [
        Window(start=float(edge), length=0.05, operations=int(count), errors=0)
        for edge, count in zip(edges, np.diff(answered), strict=False)
    ]


@given(st.floats(0.01, 0.06), st.floats(0.0, 0.6))
def test_whole_stops_are_found_to_a_few_hundredths_of_the_loss_wherever_they_begin(
    share: float, begin: float
) -> None:
    found = pairs(stopped(share, begin), 0.0, begin - PAUSE_PERIOD / 2, PIECE)
    assert len(found) in (98, 99, 100)
    # A stop may reach into the window that the end of a piece lies in.
    assert np.mean(found) == pytest.approx(math.log1p(-share), rel=0.03)


def test_pieces_that_windows_do_not_cover_or_that_hold_nothing_are_left_out() -> None:
    assert pairs([], 0.0, 0.0, PIECE) == ()
    assert len(pairs(windows(0.0, 0.1), 100.0, 99.9, PIECE)) == 99
    silent = [each.model_copy(update={"operations": 0}) for each in windows(0.0, 0.0)[:12]]
    assert len(pairs([*silent, *windows(0.0, 0.0)[12:]], 0.0, 0.0, PIECE)) == 99


def test_the_centre_does_not_follow_what_is_far_away() -> None:
    quiet = [math.sin(at) / 100 for at in range(90)]
    found = centre([*quiet, *[-0.5] * 6])
    assert found.value == pytest.approx(0.0, abs=0.003)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("outliers", [0.0, 0.1])
def test_intervals_of_the_centre_hold_the_truth_about_as_often_as_they_say(outliers: float) -> None:
    chance = random.Random(2018)
    held = 0
    for _ in range(400):
        values = [
            chance.gauss(0.05, 0.12 if chance.random() < outliers else 0.03) for _ in range(60)
        ]
        low, high = centre(values)[1:]
        held += low <= 0.05 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_the_loss_grows_with_the_share_of_the_time() -> None:
    found = centre([-1.2 + at / 1000 for at in range(-10, 11)])
    loss = lost(found, 0.05, 21)
    assert loss.value == pytest.approx(1 - math.exp(-0.06))
    assert loss.low is not None and loss.high is not None
    assert loss.low < loss.value < loss.high
    assert loss.n == 21
