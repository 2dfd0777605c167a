"""What a second try tells of a failure, and where tests are carried out."""

from __future__ import annotations

import pytest

from gate.lanes import KUBERNETES, STUDIES, called_kubernetes, lane, scope
from gate.outcome import Outcome, State, told_apart


def test_only_a_pass_makes_a_failure_chance() -> None:
    first = Outcome("a", State.FAILED, why="it broke")
    states = {
        again: told_apart(first, Outcome("a", again)).state
        for again in (State.PASSED, State.FAILED, State.SKIPPED)
    }
    assert states == {
        State.PASSED: State.FLAKY,
        State.FAILED: State.FAILED,
        State.SKIPPED: State.FAILED,
    }
    assert told_apart(first, None).state is State.FAILED


def test_of_all_studies_one_is_carried_out_at_a_time_and_beside_it_one_kubernetes() -> None:
    for marks in ({"live"}, {"live", KUBERNETES}):
        assert lane("tests/live/studies/test_a.py::test", marks) == STUDIES
    beside_a_swarm = "tests/live/test_lab_live.py::test_a_kubernetes_beside_a_swarm_is_whole"
    assert lane(beside_a_swarm, {"live", "proof", KUBERNETES}) == KUBERNETES
    assert lane("tests/live/test_lab_live.py::test_a_lab", {"live"}) == ""


def test_a_lane_goes_to_one_worker_and_so_does_a_class_or_module_without_one() -> None:
    assert scope("tests/live/test_a.py::test_b[c]", KUBERNETES) == KUBERNETES
    assert scope("tests/live/test_a.py::TestB::test_c[d]", "") == "tests/live/test_a.py::TestB"


@pytest.mark.parametrize(
    ("test", "called"),
    [
        ("tests/live/studies/test_kubernetes_study_live.py::test_a", True),
        ("tests/contract/test_contract_platform.py::TestPlatform::test[kubernetes-dns]", True),
        ("tests/live/test_docker_live.py::test_that_is_not_on_a_kubernetes", False),
        ("tests/live/test_docker_live.py::test[swarm]", False),
    ],
)
def test_a_file_or_a_case_tells_that_it_has_a_kubernetes(test: str, called: bool) -> None:
    assert called_kubernetes(test) == called
