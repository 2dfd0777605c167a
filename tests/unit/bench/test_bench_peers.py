"""Peers that a variable names: there, missing, or not what was named."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine.peers import Peer, missing

PEER = Peer("memtier_benchmark", "DUNNAGE_PEER_MEMTIER")
OTHER = Peer("latte", "DUNNAGE_PEER_LATTE")


def test_a_peer_is_where_its_variable_says(tmp_path: Path) -> None:
    program = tmp_path / "memtier"
    program.touch(mode=0o755)
    named = {PEER.variable: str(program)}
    assert PEER.program(named) == program
    assert missing([PEER], named) == []


def test_a_peer_may_be_on_the_path() -> None:
    found = PEER.program({PEER.variable: "sh"})
    assert found is not None and found.is_absolute()


def test_what_no_variable_names_is_missing_with_its_variable() -> None:
    assert PEER.program({}) is None
    assert missing([PEER, OTHER], {}) == [
        "`memtier_benchmark` was not compared: DUNNAGE_PEER_MEMTIER does not name it. "
        "Type: export DUNNAGE_PEER_MEMTIER=PATH",
        "`latte` was not compared: DUNNAGE_PEER_LATTE does not name it. "
        "Type: export DUNNAGE_PEER_LATTE=PATH",
    ]


def test_a_variable_that_names_no_program_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text").touch(mode=0o644)
    with pytest.raises(SystemExit, match="cannot be executed; type: unset DUNNAGE_PEER_MEMTIER"):
        PEER.program({PEER.variable: str(tmp_path / "text")})
