"""What nobody can rely on when a file is damaged, or closed to this user."""

from __future__ import annotations

import pytest

from dunnage.model.damage import Damage, Flaw, undecidable
from dunnage.wording.damage import brief, doubts


def test_a_journal_that_this_user_may_not_read_leaves_no_verdict() -> None:
    """It is what shows a change of the study."""
    closed = (Damage(file="journal.jsonl", flaw=Flaw.FORBIDDEN),)
    assert undecidable(closed)
    told = "journal.jsonl: this user may not read it, so a change of other files may not be noticed"
    assert doubts(closed) == (told,)
    assert told in brief(closed)


@pytest.mark.parametrize("file", ["study.yaml", "plan-2.json", "environment.json"])
def test_another_file_that_this_user_may_not_read_is_not_known_to_be_damaged(file: str) -> None:
    closed = (Damage(file=file, flaw=Flaw.FORBIDDEN),)
    assert not undecidable(closed)
    assert doubts(closed) == ()
