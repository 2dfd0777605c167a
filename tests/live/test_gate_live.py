"""The gate itself, over a project with a fault for every stage: each is named, and all ran."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from gated import FAULTY, IMPATIENT, ONE_STAGE, ROOT, carried, written

from gate.stages import TEST, Kind

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, str]]:
    """What the gate says of a project in which every stage finds a fault."""
    place = written(tmp_path_factory.mktemp("faulty"), FAULTY)
    (place / "gate").rename(place / "not-the-gate")
    (place / "gate").symlink_to(ROOT / "gate")
    yield carried(place, "-m", "gate", "test")


def test_a_fault_in_each_stage_is_named_while_all_others_ran(faulty: tuple[int, str]) -> None:
    code, said = faulty
    assert code == 1
    for place, stage in enumerate(TEST, start=1):
        ended = re.search(rf"^\[ *{place}/{len(TEST)}\] {stage.name} .*$", said, re.MULTILINE)
        assert ended, (stage.name, said)
        assert "failed" in ended[0], ended[0]
        at_once = said[ended.end() :].partition("\n[")[0]
        assert re.match(r"(\n +(failed|flaky) .+)+\n +log: target/gate/.+\.log", at_once), at_once
    failed = said.partition("\nFailed:\n")[2].partition("\n\n")[0].splitlines()
    assert sorted(line.strip() for line in failed) == sorted(
        [
            *(stage.name for stage in TEST if stage.kind is Kind.COMMAND),
            "rust tests tests::wrong",
            *("tests/test_broken.py" for stage in TEST if stage.kind is Kind.PYTEST),
            "tests/test_pure.py::test_wrong",
            "tests/test_pure.py::test_endless",
            "tests/test_live.py::test_real_and_wrong",
            "tests/test_live.py::test_fast_and_wrong",
            "tests/test_live.py::test_built_and_wrong",
        ]
    )


def test_chance_and_skips_are_named_with_their_reason_and_do_not_fail(
    faulty: tuple[int, str],
) -> None:
    _, said = faulty
    flaky = said.partition("\nFlaky")[2].partition("\n\n")[0]
    assert flaky.splitlines()[1:] == ["  tests/test_pure.py::test_by_chance"]
    assert "  tests/test_pure.py::test_left_out: there is no moon today\n" in said
    stages = sum(stage.kind is Kind.PYTEST for stage in TEST)
    assert said.count("  tests/test_moon.py: no moon\n") == stages
    *_, flaky, counts = said.splitlines()
    assert flaky == "1 flaky, counted as passed."
    assert re.fullmatch(rf"gate: 4 passed, \d+ failed, {1 + stages} skipped", counts)


def test_a_project_without_a_fault_but_with_chance_is_green(tmp_path: Path) -> None:
    written(
        tmp_path, {"tests/test_one.py": FAULTY["tests/test_pure.py"].split("def test_wrong")[0]}
    )
    chance = "\ndef test_by_chance():" + FAULTY["tests/test_pure.py"].split("test_by_chance():")[1]
    (tmp_path / "tests/test_one.py").open("a").write(chance.split("@pytest")[0])
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=1, hogged=False, workers=1))
    assert code == 0, said
    assert "Flaky" in said
    assert said.splitlines()[-1] == "gate: 2 passed, 0 failed, 0 skipped"
    (told,) = tmp_path.glob("*.told")  # why it failed the first time can still be read
    tries = [json.loads(line) for line in told.read_text().splitlines()]
    ends = [
        (each["outcome"], "assert seen" in each["why"])
        for each in tries
        if each["event"] == "ended" and each["test"].endswith("by_chance")
    ]
    assert ends == [("failed", True), ("passed", False)]


ONE_COMMAND = (
    IMPATIENT
    + """
import pathlib
from gate.carry import carry_out
from gate.stages import Kind, Stage
stage = Stage("rust", ("sh", "-c", {shell!r}), {minutes}, Kind.CARGO)
for each in carry_out(stage, pathlib.Path("."), lambda told: None).outcomes:
    print(each.test, each.state)
"""
)

RUST_SAID = """
test result: FAILED. 1 passed; 1 failed; 0 ignored

failures:
    tests::wrong
"""

BAD_END = """
def pytest_sessionfinish(session): session.exitstatus = 1
"""


def test_what_ends_badly_for_another_reason_than_a_test_is_no_success(tmp_path: Path) -> None:
    written(
        tmp_path,
        {"tests/test_one.py": "def test_right(): pass\n", "tests/conftest.py": BAD_END},
    )
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=1, hogged=False, workers=1))
    assert code == 1
    assert said.splitlines()[-1] == "gate: 1 passed, 1 failed, 0 skipped"


IN_A_LANE = """
import os, pathlib, pytest
pytestmark = [pytest.mark.live, pytest.mark.kubernetes]
def test_a_cluster():
    with pathlib.Path("workers").open("a") as said:
        said.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")
"""


def test_tests_with_the_mark_of_a_cluster_go_to_one_worker_whatever_they_are_called(
    tmp_path: Path,
) -> None:
    ini = "[tool.pytest.ini_options]\nmarkers = ['live: real', 'kubernetes: one']\n"
    modules = {f"tests/test_{name}.py": IN_A_LANE for name in "abc"}
    written(tmp_path, {**modules, "pyproject.toml": ini})
    one = ONE_STAGE.format(minutes=1, hogged=False, workers=2)
    code, said = carried(tmp_path, "-c", one.replace("workers=2", "workers=2, together=True"))
    assert code == 0, said
    first, *others = (tmp_path / "workers").read_text().split()
    assert others == [first, first]


@pytest.mark.parametrize(
    ("again", "minutes", "told"),
    [
        ("exit 0", 1, "rust tests::wrong flaky\n"),
        ("exit 101", 1, "rust tests::wrong failed\nrust failed\n"),
        ("sleep 60", 0.05, "rust tests::wrong failed\nrust failed\n"),
    ],
)
def test_a_rust_test_is_chance_only_if_all_passes_when_run_again(
    tmp_path: Path, again: str, minutes: float, told: str
) -> None:
    shell = f"test -e seen && {{ {again}; }}; touch seen; cat said; exit 101"
    written(tmp_path, {"said": RUST_SAID})
    code, said = carried(tmp_path, "-c", ONE_COMMAND.format(shell=shell, minutes=minutes))
    assert (code, said) == (0, f"rust 1 passed\n{told}")
