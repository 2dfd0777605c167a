"""Figures for a paper: one column wide, the same bytes every time, whatever names there are."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dunnage.errors import ResultError
from dunnage.model.analysis import Analysis
from dunnage.report.paper.drawings import drawings
from dunnage.report.paper.style import FORMATS
from dunnage.report.paper.write import write_figures
from report_samples import nothing_measured, sample

HOSTILE = r"../$\input{/etc/passwd}$<script>alert(1)</script>&{{7*7}}"


def one(analysis: Analysis, name: str = "C") -> Analysis:
    """What draws a single figure: the tails of workload C, under another name."""
    curves = tuple(
        curve.model_copy(update={"workload": name})
        for curve in analysis.curves
        if curve.workload == "C"
    )
    return nothing_measured().model_copy(update={"curves": curves})


def test_every_section_of_the_page_with_a_figure_has_one_for_a_paper() -> None:
    names = [drawing.name for drawing in drawings(sample().analysis, {})]
    kinds = {name.split("-")[0] for name in names}
    assert kinds == {
        "differences",
        "scalability",
        "latency",
        "tails",
        "time",
        "cpu",
        "variance",
    }
    assert len(names) == len(set(names))


def test_the_same_analysis_gives_the_same_bytes_in_every_format(tmp_path: Path) -> None:
    made = sample()
    first, again = (
        write_figures(one(made.analysis), made.plan, tmp_path / name) for name in ("a", "b")
    )
    assert [path.suffix for path in first] == [f".{kind}" for kind in FORMATS]
    for before, after in zip(first, again, strict=True):
        assert before.read_bytes() == after.read_bytes()


def test_a_figure_is_one_column_wide_and_carries_its_fonts_and_no_date(tmp_path: Path) -> None:
    made = sample()
    files = {path.suffix: path for path in write_figures(one(made.analysis), made.plan, tmp_path)}
    picture = ElementTree.parse(files[".svg"]).getroot()  # noqa: S314 (our own file)
    assert picture.attrib["width"] == "241.2pt"
    assert not list(picture.iter("{http://www.w3.org/2000/svg}text"))
    printed = files[".pdf"].read_bytes()
    assert b"/FontFile2" in printed
    assert b"CreationDate" not in printed
    assert b"<dc:date>" not in files[".svg"].read_bytes()
    assert files[".png"].read_bytes()[16:24] == (1005).to_bytes(4) + (720).to_bytes(4)


def test_hostile_names_are_drawn_as_they_are_and_stay_inside_the_directory(
    tmp_path: Path,
) -> None:
    made = sample()
    directory = tmp_path / "figures"
    written = write_figures(one(made.analysis, HOSTILE), made.plan, directory)
    assert {path.parent for path in written} == {directory}
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", path.name) for path in written)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures"]
    assert b"<script" not in next(path for path in written if path.suffix == ".svg").read_bytes()


def test_two_names_that_are_alike_once_made_safe_keep_two_files(tmp_path: Path) -> None:
    made = sample()
    curves = (*one(made.analysis, "a/b").curves, *one(made.analysis, "a b").curves)
    analysis = nothing_measured().model_copy(update={"curves": curves})
    names = {path.stem for path in write_figures(analysis, made.plan, tmp_path)}
    assert names == {"latency-service-a-b-t32", "latency-service-a-b-t32-2"}


def test_nothing_measured_draws_nothing_and_a_taken_place_is_an_error(tmp_path: Path) -> None:
    made = sample()
    assert write_figures(nothing_measured(), made.plan, tmp_path) == ()
    (tmp_path / "taken").write_text("")
    with pytest.raises(ResultError, match="taken"):
        write_figures(one(made.analysis), made.plan, tmp_path / "taken" / "figures")
