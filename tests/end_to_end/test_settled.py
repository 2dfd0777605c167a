"""A run begins when its database has nothing left to do, and its record says how long that took."""

from __future__ import annotations

import itertools

import pytest
from faulty import RUNS, Carry, complete

from dunnage.hosts.fake.host import COMMAND_SECONDS, Task
from dunnage.hosts.fake.world import Call, World

REFUSED, BETWEEN = 50, 0.02
"""Questions that the first database answers with having work left, and seconds between two."""
NEAR = 1e-3


def busy_at_first(world: World) -> None:
    """The database that is to settle first has work left for a while."""
    ask = world.programs["fake-cli"]
    asked = itertools.count(1)

    def answer(call: Call) -> Task:
        if call.argv[1] == "count" and next(asked) <= REFUSED:
            return call.fail("compacting")
        return ask(call)

    world.programs["fake-cli"] = answer


def test_a_record_says_how_long_its_run_waited_for_the_database(carry_out: Carry) -> None:
    ended = carry_out(busy_at_first)
    assert complete(ended)
    first, *others = sorted(ended.result.records, key=lambda record: record.position)
    waited = REFUSED * (COMMAND_SECONDS + BETWEEN) + COMMAND_SECONDS
    assert first.settled == pytest.approx(waited, abs=NEAR)
    at_once = [pytest.approx(COMMAND_SECONDS, abs=NEAR)] * (RUNS - 1)
    assert [record.settled for record in others] == at_once
