"""Words can be changed without changing a number: nothing reads them back."""

from __future__ import annotations

import re

import pytest

from dunnage.findings.checks import reasons
from dunnage.findings.checks.sentences import trouble
from dunnage.model.check import CheckResult, Reading, Status, Why
from dunnage.report.tables.every import tables
from dunnage.wording import checks, parity
from report_samples import Sample, sample

_READ = re.compile(r"\{[^}]*\}")


def other(text: str) -> str:
    """The same places for what was read, between words that mean nothing."""
    return f"quux {' quuz '.join(_READ.findall(text))}"


def numbers(made: Sample) -> list[tuple[str, int, list[list[object]]]]:
    """Every table by its size and by what in it is no text."""
    return [
        (
            table.name,
            len(table.rows),
            [[cell for cell in row if not isinstance(cell, str)] for row in table.shown],
        )
        for table in tables(made.analysis, made.plan)
    ]


def counted(made: Sample) -> list[tuple[str, int]]:
    found = [(each.gate, each.runs) for each in reasons.why_not_valid(made.analysis)]
    return found + [
        (group[0].gate, sum(each.runs for each in group))
        for group in reasons.first_causes(made.analysis).values()
    ]


def test_other_words_leave_every_number_and_every_count(monkeypatch: pytest.MonkeyPatch) -> None:
    made = sample()
    before = numbers(made), counted(made), made.analysis.model_dump_json()
    for name in ("_SEEN", "_ALLOWED_WHY", "_ALLOWED"):
        table = getattr(checks, name)
        reworded = {key: tuple(map(other, parts)) for key, parts in table.items()}
        monkeypatch.setattr(checks, name, reworded)
    monkeypatch.setattr(checks, "CAUSES", dict.fromkeys(checks.CAUSES, "quux"))
    heads = {aspect: other(text) for aspect, text in parity._HEADS.items()}
    monkeypatch.setattr(parity, "_HEADS", heads)
    assert (numbers(made), counted(made), made.analysis.model_dump_json()) == before
    spoilt = next(run for run in made.analysis.runs if run.status == "invalid")
    assert "quux" in checks.seen(spoilt.checks[0])
    assert trouble(made.analysis.model_copy(update={"valid": 0})) is not None


@pytest.mark.parametrize(("gate", "why"), [*checks._SEEN])
def test_every_piece_of_every_sentence_is_said_where_all_was_read(gate: str, why: Why) -> None:
    for parts, say in (
        (checks._SEEN[gate, why], checks.seen),
        (checks._ALLOWED_WHY.get((gate, why), checks._ALLOWED[gate]), checks.allowed),
    ):
        names = {name.rstrip("@") for part in parts for name in re.findall(r"\{([^}]*)\}", part)}
        names = {"kind" if name == "kinds" else name for name in names}
        read = tuple(Reading(what=name, value=1.0, where="here") for name in sorted(names))
        found = CheckResult(check=gate, status=Status.UNKNOWN, why=why, seen=read, allowed=read)
        literal = [re.split(r"\{[^}]*\}", part) for part in parts]
        said = say(found)
        assert all(piece.strip("; ") in said for pieces in literal for piece in pieces)
        assert "{" not in said
