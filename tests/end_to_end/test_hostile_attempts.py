"""Each hostile attempt ends in one message that says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from attempts import attempts
from hostile import dunnage

ATTEMPTS = attempts()


def test_there_are_enough_of_them() -> None:
    assert len(ATTEMPTS) >= 150
    assert all(attempt.says for attempt in ATTEMPTS.values())


@pytest.mark.parametrize("name", ATTEMPTS)
def test_the_attempt_ends_in_what_it_must_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = ATTEMPTS[name]
    monkeypatch.chdir(tmp_path)
    attempt.arrange(tmp_path)
    shown = dunnage(*attempt.words)
    said = shown.out + shown.err
    assert "Traceback" not in said
    assert "please report it" not in said
    assert shown.harmless, said
    assert attempt.says in said, said
    assert shown.code == attempt.code, said
    assert not (tmp_path / "owned").exists()
