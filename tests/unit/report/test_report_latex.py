"""A table as LaTeX: whatever a name holds is set literally, breaks nothing and fits its line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from dunnage.report.export.latex.columns import LINE, MOST_COLUMNS, arranged
from dunnage.report.export.latex.document import MOST_LINES, document
from dunnage.report.export.latex.text import escaped, lines, pieces, width
from dunnage.report.tables.column import Cell
from dunnage.report.tables.table import untyped
from dunnage.wording.terms import plain

HOSTILE = "\\input{/etc/passwd} \\\\[1em] 100% of $x_1^2$ & #1 ~ {a} \\end{tabular} \x1b[2J"
GAP = 1.2
_COMMAND = re.compile(
    r"\\(?:text[a-z]+|char34|ldots)\{\}|\\[{}$&#%_]"
    r"|\$(?:\^\{[23]\}|-|\\(?:pm|times|div|mu|sigma|kappa|lambda|rightarrow|approx|geq|leq|infty"
    r"|surd|cdot))\$|\{[\[\]*]\}|\{\}[`']\{\}|\{\}"
)
"""Everything that `escaped` may write beside plain characters."""


@given(st.text())
def test_no_text_leaves_a_character_that_latex_acts_upon(text: str) -> None:
    rest = _COMMAND.sub("", escaped(text))
    assert not set(rest) & set('\\{}$&#%_^~<>|"`[]*\n\t')
    assert all(" " <= character <= "\u017f" and character != "\x7f" for character in rest)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_every_printable_character_is_still_there(text: str) -> None:
    back = escaped(text)
    for mark, character in (
        (r"\textbackslash{}", "\\"),
        (r"\textasciicircum{}", "^"),
        (r"\textasciitilde{}", "~"),
        (r"\textless{}", "<"),
        (r"\textgreater{}", ">"),
        (r"\textbar{}", "|"),
        (r"\char34{}", '"'),
    ):
        back = back.replace(mark, f"\x00{ord(character)}\x00")
    back = back.replace("{}'{}", "'").replace("{}`{}", "`").replace("-{}", "-")
    back = re.sub(r"\{([\[\]*])\}", r"\1", back)
    back = re.sub(r"\\([{}$&#%_])", r"\1", back)
    assert re.sub("\x00([0-9]+)\x00", lambda match: chr(int(match[1])), back) == text


def test_letters_that_latex_has_only_in_other_encodings_become_question_marks() -> None:
    assert escaped("Łódź, Århus, Škoda, naïve, garçon") == "Łódź, Århus, Škoda, naïve, garçon"
    assert escaped("«đħþ»") == "?????"
    assert escaped("ǸǍȦṀ") == "????"


def test_a_table_needs_no_package_and_closes_what_it_opens() -> None:
    table = untyped(
        "answers",
        "Title\nwith a line break",
        [
            {"name": HOSTILE, "low [%]": -1.25, "fine": True, "count": 3, "small": 2.5e-7},
            {"name": "b", "low [%]": None, "fine": False, "count": 4, "small": 1.0},
        ],
    )
    written = document(table)
    told = written.splitlines()
    assert told[0] == "% Title with a line break"
    kinds = r"\\noindent\\begin\{tabular\}\{p\{0\.[0-9]{3}\\linewidth\}rlrr\}"
    assert re.fullmatch(kinds, told[1])
    assert told[-1] == r"\end{tabular}%"
    assert written.count(r"\begin{") == written.count(r"\end{tabular}") == 1
    rows = [line for line in told if line.endswith(r" \tabularnewline")]
    assert [row.count(" & ") for row in rows] == [4] * 4
    assert rows[:2] == [
        r" & low &  &  &  \tabularnewline",
        r"name & {[}\%{]} & fine & count & small \tabularnewline",
    ]
    assert r" & $-1.25$ & yes & $3$ & $2.5\times10^{-7}$ \tabularnewline" in rows[2]
    assert rows[3] == r"\raggedright b &  & no & $4$ & $1$ \tabularnewline"
    assert "\x1b" not in written


def test_a_wide_table_becomes_several_of_six_columns() -> None:
    """What is the same everywhere is said once; what tells rows apart is in each part."""
    rows: list[Mapping[str, Cell]] = [
        {
            "question": "Q1",
            "deployment": deployment,
            "baseline": "native",
            "workload": workload,
            **{f"number {at}": at + place for at in range(7)},
        }
        for place, (deployment, workload) in enumerate(
            [("host", "A"), ("host", "C"), ("bridge", "A"), ("bridge", "C")]
        )
    ]
    written = document(untyped("answers", "Answers", rows))
    told = written.splitlines()
    assert told[:3] == ["% Answers", "% question: Q1", "% baseline: native"]
    heads = [line for line in told if line.startswith("deployment & workload")]
    assert [head.count(" & ") for head in heads] == [5, 4]
    assert heads[0].endswith(r" & 3 \\")
    for deployment in ("host", "bridge"):
        assert sum(line.startswith(f"{deployment} & ") for line in told) == 4


def test_a_long_table_becomes_several_of_a_page() -> None:
    rows: list[Mapping[str, Cell]] = [{"run": f"run-{at}", "value": at} for at in range(100)]
    written = document(untyped("runs", "Runs", rows))
    parts = written.split(r"\begin{tabular}")[1:]
    assert [part.count(r" \\") for part in parts] == [MOST_LINES] * 3 + [100 - 3 * 33 + 1]
    assert [part.count("run & value") for part in parts] == [1] * 4


def test_a_cell_that_is_higher_than_a_page_goes_on_in_the_next_row() -> None:
    text = " ".join(f"word-{at}" for at in range(1000))
    table = untyped("facts", "Facts", [{"fact": "a", "value": text}, {"fact": "b", "value": "c"}])
    written = document(table)
    parts = written.split(r"\begin{tabular}")[1:]
    assert len(parts) > 2
    shown = [int(each) for each in re.findall(r"word-\{\}(?:\\allowbreak\{\})?([0-9]+)", written)]
    assert shown == list(range(1000))
    assert written.count("\na & ") == written.count("\nb & ") == 1


_CELLS = st.one_of(st.none(), st.text(max_size=80), st.integers(-(10**9), 10**9), st.floats())
_ROWS = st.lists(st.lists(_CELLS, min_size=9, max_size=9), min_size=1, max_size=5)


@given(_ROWS, st.lists(st.text(max_size=30), min_size=9, max_size=9, unique=True))
def test_every_column_is_there_and_its_neighbours_fit_the_line(
    rows: list[list[Cell]], heads: list[str]
) -> None:
    table = untyped("any", "Any", [dict(zip(heads, row, strict=True)) for row in rows])
    same, groups = arranged(table)
    for group in groups:
        assert 0 < len(group) <= MOST_COLUMNS
        assert sum(each.width + GAP for each in group) <= LINE + 1e-9
    places = {each.place for group in (same, *groups) for each in group}
    assert places == set(range(9))


@given(st.text(), st.floats(2, 20))
def test_a_text_is_broken_into_lines_without_a_loss(text: str, most: float) -> None:
    parts = pieces(text, most)
    assert "".join(parts) == " ".join(plain(text).split())
    for line in lines(parts, most):
        assert width("".join(line).rstrip()) <= most + 1e-9
