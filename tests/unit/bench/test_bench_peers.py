"""Peers that a variable names or a package offers: there, missing, or not what was named."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine.peers import Found, Peer

from dunnage.errors import UnavailableError

PEER = Peer("memtier_benchmark", "DUNNAGE_PEER_MEMTIER")
OTHER = Peer("latte", "DUNNAGE_PEER_LATTE")


def found(without: frozenset[str] = frozenset(), **named: str) -> Found:
    return Found(named, without)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "memtier"
    path.touch(mode=0o755)
    return path


def test_a_peer_is_where_its_variable_says(program: Path) -> None:
    peers = found(DUNNAGE_PEER_MEMTIER=str(program))
    assert peers.named(PEER) == program
    assert peers.absent == []


def test_a_peer_may_be_on_the_path() -> None:
    there = PEER.program({PEER.variable: "sh"})
    assert there is not None and there.is_absolute()


def test_what_no_variable_names_is_missing_with_its_variable() -> None:
    peers = found()
    assert peers.named(PEER) is None and peers.named(OTHER) is None
    assert peers.absent == [
        "`memtier_benchmark` was not compared: DUNNAGE_PEER_MEMTIER does not name it. "
        "Type: export DUNNAGE_PEER_MEMTIER=PATH",
        "`latte` was not compared: DUNNAGE_PEER_LATTE does not name it. "
        "Type: export DUNNAGE_PEER_LATTE=PATH",
    ]


def test_a_variable_that_names_no_program_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text").touch(mode=0o644)
    peers = found(DUNNAGE_PEER_MEMTIER=str(tmp_path / "text"))
    with pytest.raises(SystemExit, match="cannot be executed; type: unset DUNNAGE_PEER_MEMTIER"):
        peers.named(PEER)


def test_what_a_package_offers_is_taken_where_no_variable_names_another(program: Path) -> None:
    offered = Path("/offered")
    assert found().offered(OTHER, lambda: offered, Path) == offered
    named = found(DUNNAGE_PEER_LATTE=str(program))
    assert named.offered(OTHER, lambda: offered, Path) == program


def test_what_no_package_gives_is_missing_with_the_next_command() -> None:
    def fail() -> Path:
        raise UnavailableError("cargo cannot build it", hint="cargo install latte-cli")

    def fail_without_hint() -> Path:
        raise UnavailableError("no network")

    peers = found()
    assert peers.offered(OTHER, fail, Path) is None
    assert peers.offered(OTHER, fail_without_hint, Path) is None
    assert peers.absent == [
        "`latte` was not compared: cargo cannot build it. Type: cargo install latte-cli",
        "`latte` was not compared: no network. Type: export DUNNAGE_PEER_LATTE=PATH",
    ]


def test_a_peer_can_be_left_out(program: Path) -> None:
    peers = found(frozenset({"latte"}), DUNNAGE_PEER_LATTE=str(program))
    assert peers.offered(OTHER, lambda: Path("/offered"), Path) is None
    assert peers.named(OTHER) is None
    assert set(peers.absent) == {"`latte` was left out, as `--without` asks."}
