"""Figures for a paper: one column wide, the same bytes every time, whatever names there are."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from dunnage.drawing.figure import Axis, Figure, Line, Point
from dunnage.drawing.scale import linear
from dunnage.errors import ResultError
from dunnage.findings.differences.forests import forests
from dunnage.model.analysis import Analysis
from dunnage.report.paper.forest import paint_forest
from dunnage.report.paper.plot import paint_figure
from dunnage.report.paper.style import FORMATS
from dunnage.report.paper.write import figures, write_figures
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
    names = [figure.name for figure in figures(sample().analysis)]
    kinds = {name.split("-")[0] for name in names}
    assert kinds == {
        "differences",
        "scalability",
        "latency",
        "tails",
        "time",
        "cpu",
        "rungs",
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


def test_paper_has_the_ticks_of_the_page_where_the_page_has_them() -> None:
    for figure in figures(one(sample().analysis)):
        assert isinstance(figure, Figure)
        (axes,) = paint_figure(figure, {}).axes
        for described, painted in ((figure.x, axes.xaxis), (figure.y, axes.yaxis)):
            texts = [label.get_text() for label in painted.get_ticklabels()]
            places = [float(at) for at in painted.get_ticklocs()]
            assert list(zip(texts, places, strict=True)) == list(described.ticks())


def test_points_are_joined_where_no_line_runs_through_them_and_hollow_ones_stay_hollow() -> None:
    axis = Axis("", linear([0.0, 10.0]), str)
    points = tuple(
        Point(name, at, at + above, "", hollow=at == 8.0)
        for name, above in (("a", 0.0), ("b", 1.0))
        for at in (2.0, 8.0)
    )
    figure = Figure("", "", axis, axis, (Line("a", ((0.0, 1.0), None, (9.0, 9.0))),), (), points)
    (axes,) = paint_figure(figure, {}).axes
    joined = [line for line in axes.lines if np.asarray(line.get_xdata()).tolist() == [20.0, 80.0]]
    assert [np.asarray(line.get_ydata()).tolist() for line in joined] == [[30.0, 90.0]]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
    assert [np.asarray(line.get_xdata()).tolist() for line in hollow] == [[80.0], [80.0]]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]


def test_a_forest_on_paper_leaves_out_conditions_in_which_nothing_was_compared() -> None:
    analysis = sample().analysis
    compared = tuple(
        each
        if each.workload == "A"
        else each.model_copy(update={"difference": each.difference.model_copy(update={"n": 0})})
        for each in analysis.comparisons
    )
    answers = tuple(each.model_copy(update={"comparisons": ()}) for each in analysis.answers)
    few = analysis.model_copy(update={"comparisons": compared, "answers": answers})
    forest = forests(few)[0]
    assert [group.title for group in forest.groups] == [
        "Workload A, 32 threads",
        "Workload C, 32 threads",
    ]
    (axes,) = paint_forest(forest).axes
    assert [text.get_text() for text in axes.texts] == ["Workload A, 32 threads"]
