"""The gate itself, over a project with a fault for every stage: each is named, and all ran."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.proofs import claim
from gate.stages import TEST, Kind

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]

FAULTY = {
    "pyproject.toml": """
[tool.ruff.lint]
select = ["F"]
[tool.mypy]
files = ["src"]
[tool.pytest.ini_options]
markers = ["live: real", "browser: real", "proof: long"]
[tool.importlinter]
root_package = "faulty"
[[tool.importlinter.contracts]]
name = "low knows nothing of high"
type = "layers"
layers = ["faulty.high", "faulty.low"]
""",
    "Makefile": "engine tools:\n\t@echo no $@ today; exit 1\n",
    "src/faulty/__init__.py": "",
    "src/faulty/high.py": "x  =  1\n",
    "src/faulty/low.py": 'import os\n\nimport faulty.high\n\ny: int = "no number"\n',
    "Cargo.toml": '[package]\nname = "faulty"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 4\n\n[[package]]\nname = "faulty"\nversion = "0.1.0"\n',
    "src/lib.rs": """
pub  fn empty(of: &[u8]) -> bool { return of.len() == 0; }
#[cfg(test)]
mod tests {
    #[test]
    fn wrong() { assert!(super::empty(&[1])); }
    #[test]
    fn right() { assert!(super::empty(&[])); }
}
""",
    "tests/test_pure.py": """
import pathlib, time, pytest

def test_right(): pass
def test_wrong(): assert 1 == 2
def test_by_chance():
    once = pathlib.Path(__file__).with_name("once")
    seen = once.exists()
    once.touch()
    assert seen
@pytest.mark.timeout(1)
def test_endless(): time.sleep(600)
def test_left_out(): pytest.skip("there is no moon today")
""",
    "tests/test_live.py": """
import pytest
pytestmark = pytest.mark.live
def test_real_and_right(): pass
def test_real_and_wrong(): assert "native" == "docker"
""",
    "tests/test_broken.py": "import nothing_of_this_name\n",
    "schema/.keep": "",
    "docs/reference/.keep": "",
    "bench/.keep": "",
    "gate/.keep": "",
}


def carried(place: Path, *words: str) -> tuple[int, str]:
    """The gate's exit code and all it said in a project, without colours."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=place,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{place}/src", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def written(place: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


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
    failed = said.partition("\nFailed:\n")[2].partition("\n\n")[0].splitlines()
    assert sorted(line.strip() for line in failed) == sorted(
        [
            *(stage.name for stage in TEST if stage.kind is Kind.COMMAND),
            "rust tests tests::wrong",
            *("tests/test_broken.py" for stage in TEST if stage.kind is Kind.PYTEST),
            "tests/test_pure.py::test_wrong",
            "tests/test_pure.py::test_endless",
            "tests/test_live.py::test_real_and_wrong",
        ]
    )


def test_chance_and_skips_are_named_with_their_reason_and_do_not_fail(
    faulty: tuple[int, str],
) -> None:
    _, said = faulty
    flaky = said.partition("\nFlaky")[2].partition("\n\n")[0]
    assert flaky.splitlines()[1:] == ["  tests/test_pure.py::test_by_chance"]
    assert "  tests/test_pure.py::test_left_out: there is no moon today\n" in said
    assert re.fullmatch(r"gate: 4 passed, \d+ failed, 1 skipped", said.splitlines()[-1])


def test_a_project_without_a_fault_but_with_chance_is_green(tmp_path: Path) -> None:
    written(
        tmp_path, {"tests/test_one.py": FAULTY["tests/test_pure.py"].split("def test_wrong")[0]}
    )
    chance = "\ndef test_by_chance():" + FAULTY["tests/test_pure.py"].split("test_by_chance():")[1]
    (tmp_path / "tests/test_one.py").open("a").write(chance.split("@pytest")[0])
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=1))
    assert code == 0, said
    assert "Flaky" in said
    assert said.splitlines()[-1] == "gate: 2 passed, 0 failed, 0 skipped"


def test_a_stage_that_hangs_is_killed_with_all_it_started_and_its_tests_are_named(
    tmp_path: Path,
) -> None:
    written(tmp_path, {"tests/test_one.py": HUNG})
    code, said = carried(tmp_path, "-c", ONE_STAGE.format(minutes=0.1))
    assert code == 1
    assert "FAILED tests/test_one.py::test_hangs\n  it hung, and was killed with the stage" in said
    assert "FAILED tests/test_one.py::test_after\n  it was not run" in said
    assert said.splitlines()[-1] == "gate: 1 passed, 2 failed, 0 skipped"
    started = int((tmp_path / "started").read_text())
    assert not Path(f"/proc/{started}").exists()


ONE_STAGE = """
import pathlib, sys
from gate.carry import carry_out
from gate.closing import closing
from gate.processes import adopt_orphans
from gate.stages import PYTEST, Kind, Stage
adopt_orphans()
one = carry_out(Stage("one", PYTEST, {minutes}, Kind.PYTEST), pathlib.Path("."), lambda told: None)
print("\\n".join(closing([one])))
sys.exit(any(each.state == "failed" for each in one.outcomes))
"""
HUNG = """
import pathlib, signal, subprocess, time
def test_before(): pass
def test_hangs():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM, signal.SIGINT])
    child = subprocess.Popen(["setsid", "sleep", "600"])
    pathlib.Path("started").write_text(str(child.pid))
    time.sleep(600)
def test_after(): pass
"""


def test_the_claim_of_a_proof_is_the_name_of_its_test() -> None:
    assert claim("tests/live/test_x.py::test_a_claim_holds[3]") == "a claim holds (3)"
