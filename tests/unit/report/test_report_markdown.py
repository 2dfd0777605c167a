"""A table as Markdown: whatever a name holds stays in its cell and is no markup."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from dunnage.report.export.markdown import document, escaped
from dunnage.report.tables.table import untyped
from report_samples import HOSTILE


@given(st.text())
def test_no_text_holds_markup_or_leaves_its_line(text: str) -> None:
    rest = re.sub(r"\\[\\`*_{}\[\]()#+!|~$:@]|&(?:amp|lt|gt);", "", escaped(text))
    assert not set(rest) & set("\\`*_{}[]()#+!|~$&<>\n\r")


def test_each_row_is_a_line_with_as_many_cells_as_there_are_columns() -> None:
    table = untyped(
        "runs", "Runs & more", [{"name": HOSTILE, "n": 1.5}, {"name": "a|b\nc", "n": None}]
    )
    assert document(table).splitlines()[0] == "## Runs &amp; more"
    lines = document(table).splitlines()[2:]
    assert lines[0] == "| name | n |"
    assert lines[1] == "| --- | ---: |"
    assert lines[3] == r"| a\|b c |  |"
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 3
    assert "<script>" not in document(table)
