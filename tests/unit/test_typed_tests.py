"""Tests and benchmarks are type-checked as the product is: they know of renamed fields, too."""

from __future__ import annotations

import tomllib
from pathlib import Path

from gate.stages import CHECK

ROOT = Path(__file__).parents[2]
TESTS = [
    path.relative_to(ROOT)
    for path in (ROOT / "tests").rglob("*.py")
    if not path.is_relative_to(ROOT / "tests" / "fixtures")
]
MYPY = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
CHECKED = [word for stage in CHECK if "mypy" in stage.argv[0] for word in stage.argv[1:]]


def test_all_that_is_not_generated_is_checked_strictly() -> None:
    assert MYPY["strict"] is True
    assert set(MYPY["files"]) == {"src", "gate", "tests", "bench"}
    assert any(stage.argv[1:] == () for stage in CHECK if "mypy" in stage.argv[0])


def test_helpers_are_found_where_pytest_finds_them() -> None:
    assert {str(path.parent) for path in TESTS} <= set(MYPY["mypy_path"])


def test_each_file_of_fixtures_is_checked_although_all_have_one_name() -> None:
    fixtures = {str(path) for path in TESTS if path.name == "conftest.py"}
    assert sorted(CHECKED) == sorted(fixtures - {"tests/conftest.py"})
