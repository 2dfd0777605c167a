"""What a second try tells of a failure, and where tests are carried out."""

from __future__ import annotations

import pytest

from gate.lanes import called_kubernetes, lane
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
    studies = {lane(f"tests/live/studies/test_{name}.py::test") for name in ("a", "kubernetes_b")}
    others = {
        lane("tests/live/test_kubernetes_live.py::test"),
        lane("tests/contract/test_contract_kubernetes.py::test[kubernetes]"),
        lane("tests/contract/test_contract_platform.py::TestPlatform::test[kubernetes-node-port]"),
    }
    assert len(studies) == len(others) == 1
    assert studies != others
    assert lane("tests/contract/test_contract_platform.py::TestPlatform::test[native]") == ""


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
