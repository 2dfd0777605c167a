"""Small projects over which the gate is carried out, and what it said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

FAULTY = {
    "pyproject.toml": """
[tool.ruff.lint]
select = ["F"]
[tool.mypy]
files = ["src"]
[tool.pytest.ini_options]
markers = ["live: real", "browser: real", "proof: long", "quiet: alone", "build: slow"]
[tool.importlinter]
root_package = "faulty"
[[tool.importlinter.contracts]]
name = "low knows nothing of high"
type = "layers"
layers = ["faulty.high", "faulty.low"]
""",
    "Makefile": "engine tools go-format:\n\t@echo no $@ today; exit 1\n",
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
@pytest.mark.quiet
def test_fast_and_wrong(): assert 2 < 1
@pytest.mark.build
def test_built_and_wrong(): assert 2 < 1
""",
    "tests/test_moon.py": "import pytest\npytest.skip('no moon', allow_module_level=True)\n",
    "tests/test_broken.py": "import nothing_of_this_name\n",
    "schema/.keep": "",
    "docs/reference/.keep": "",
    "bench/.keep": "",
    "gate/.keep": "",
}

IMPATIENT = """
from gate import carry, processes
carry.PATIENCE = processes.GRACE = 1
"""

ONE_STAGE = (
    IMPATIENT
    + """
import pathlib, sys
from gate.carry import carry_out
from gate.closing import closing
from gate.processes import adopt_orphans
from gate.stages import PYTEST, Kind, Stage
adopt_orphans()
named = tuple(sys.argv[1:])
stage = Stage("one", PYTEST, {minutes}, Kind.PYTEST, named, workers={workers}, hogged={hogged})
one = carry_out(stage, pathlib.Path("."), lambda told: None)
print("\\n".join(closing([one])))
sys.exit(any(each.state == "failed" for each in one.outcomes))
"""
)


def environment(place: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT}:{place}/src", "NO_COLOR": "1"}


def carried(place: Path, *words: str, **variables: str) -> tuple[int, str]:
    """The gate's exit code and all it said in a project, without colours."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=place,
        env=environment(place) | variables,
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
