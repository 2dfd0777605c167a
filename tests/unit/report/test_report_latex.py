"""A table as LaTeX: whatever a name holds is set literally and breaks nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from dunnage.report.export.latex import document, escaped
from dunnage.report.tables.column import Cell
from dunnage.report.tables.table import untyped

HOSTILE = "\\input{/etc/passwd} \\\\[1em] 100% of $x_1^2$ & #1 ~ {a} \\end{tabular} \x1b[2J"
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
    lines = written.splitlines()
    assert lines[0] == "% Title with a line break"
    assert lines[1] == r"\begin{tabular}{p{0.4\linewidth}rlrr}"
    assert lines[-1] == r"\end{tabular}"
    assert written.count(r"\begin{") == written.count(r"\end{tabular}") == 1
    rows = [line for line in lines if line.endswith(r" \\")]
    assert [row.count(" & ") for row in rows] == [4, 4, 4]
    assert r"$-1.25$ & yes & $3$ & $2.5\times10^{-7}$ \\" in rows[1]
    assert rows[2] == r"b &  & no & $4$ & $1$ \\"
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
    lines = written.splitlines()
    assert lines[:3] == ["% Answers", "% question: Q1", "% baseline: native"]
    heads = [line for line in lines if line.startswith("deployment & workload")]
    assert [head.count(" & ") for head in heads] == [5, 4]
    assert heads[0].endswith(r"number 3 \\")
    for deployment in ("host", "bridge"):
        assert sum(line.startswith(f"{deployment} & ") for line in lines) == 4
