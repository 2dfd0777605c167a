"""Which of several results is the newest: the one that began last."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from results import tiny_result

from dunnage.errors import NoResultError
from dunnage.store.newest import newest
from dunnage.store.parse import ForbiddenError


def result(place: Path, began: float, later: Iterable[float] = ()) -> Path:
    """A result whose journal tells these Unix times."""
    made = tiny_result(place.parent / "made", "r1").layout
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(made.root, place)
    lines = map(json.loads, (place / "journal.jsonl").read_text().splitlines())
    written = [{**line, "time": began} for line in lines]
    written += [{"version": 2, "time": time, "event": "testbed open"} for time in later]
    text = "".join(f"{json.dumps(line)}\n" for line in written)
    (place / "journal.jsonl").write_text(text)
    return place


def test_the_newest_result_is_the_one_that_began_last_whatever_it_is_called(
    tmp_path: Path,
) -> None:
    result(tmp_path / "monday", 100.0)
    friday = result(tmp_path / "friday", 200.0)
    assert newest(tmp_path) == friday


@pytest.mark.parametrize("began", [100.0, 300.0])
def test_results_of_all_levels_are_looked_at(tmp_path: Path, began: float) -> None:
    near = result(tmp_path / "monday", began)
    far = result(tmp_path / "study" / "2026-01-01T00-00-00Z-aaaaaa", 200.0)
    assert newest(tmp_path) == (near if began > 200.0 else far)


@pytest.mark.parametrize("first", ["aaaaaa", "ffffff"])
def test_of_two_results_of_one_second_the_later_is_the_newer(tmp_path: Path, first: str) -> None:
    """The end of their names is chance."""
    last = "ffffff" if first == "aaaaaa" else "aaaaaa"
    result(tmp_path / f"2026-01-01T00-00-00Z-{first}", 1767225600.1)
    later = result(tmp_path / f"2026-01-01T00-00-00Z-{last}", 1767225600.2)
    assert newest(tmp_path) == later


@pytest.mark.parametrize("resumed", ["a", "b"])
def test_of_two_copies_the_one_that_went_on_is_the_newer(tmp_path: Path, resumed: str) -> None:
    for name in "ab":
        result(tmp_path / name, 100.0, [900.0] if name == resumed else [])
    assert newest(tmp_path) == tmp_path / resumed


def test_without_a_journal_the_name_tells_when_a_study_began(tmp_path: Path) -> None:
    result(tmp_path / "zzz", 1700000000.0)
    lost = result(tmp_path / "2030-01-01T00-00-00Z-aaaaaa", 100.0)
    (lost / "journal.jsonl").unlink()
    assert newest(tmp_path) == lost


@pytest.mark.parametrize("line", ["", "garbage", "[]", '{"time": "x"}', '{"time": NaN}'])
def test_a_journal_of_garbage_leaves_the_name(tmp_path: Path, line: str) -> None:
    result(tmp_path / "zzz", 1700000000.0)
    odd = result(tmp_path / "2030-01-01T00-00-00Z-aaaaaa", 100.0)
    (odd / "journal.jsonl").write_text(f"{line}\n")
    assert newest(tmp_path) == odd


def test_a_link_that_tells_nobody_where_it_leads_is_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`/proc` holds such links."""
    link = tmp_path / "results" / "root"
    link.parent.mkdir()
    link.symlink_to(result(tmp_path / "monday", 100.0))
    assert newest(link.parent) == link

    def closed(path: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "readlink", closed)
    with pytest.raises(NoResultError):
        newest(link.parent)
    with pytest.raises(ForbiddenError):
        newest(link)
