"""What goes wrong with a server or the engine is told; nothing is compared then."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from engine import ours, redis, redis_server
from engine.asked import Place
from engine.bench import Bench
from engine.redis_server import RedisServer
from engine.shots import Processors, Shot

LAST = max(os.sched_getaffinity(0))
PLACE = Place(6379, LAST)


def program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_server_that_does_not_start_is_told_with_its_last_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tree = SimpleNamespace(source=tmp_path, prefix=str(tmp_path))
    monkeypatch.setattr(
        redis_server, "DebianSoftware", lambda: SimpleNamespace(tree=lambda _: tree)
    )
    program(tmp_path / "setpriv", "echo one; echo 'Operation not permitted' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with (
        pytest.raises(SystemExit, match=r"redis-server does not answer: Operation not permitted$"),
        redis_server.redis_server("7.0", Processors(LAST, LAST), tmp_path),
    ):
        pass


@pytest.mark.parametrize("script", ["echo ERR unknown command", "echo ERR unknown command; exit 1"])
def test_an_error_of_the_server_is_told(script: str, tmp_path: Path) -> None:
    program(tmp_path / "redis-cli", script)
    with pytest.raises(SystemExit, match=r"^redis-cli INFO server: ERR unknown command$"):
        RedisServer(PLACE, (), str(tmp_path)).version()


@dataclass
class Answering:
    """A server that knows so many of the records that it is asked for."""

    known: str
    place: Place = PLACE
    asked: tuple[str, ...] = ()

    def cli(self, *words: str) -> str:
        self.asked = words
        return self.known


def filled(server: Answering, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ours, "shot", lambda *_: Shot(1, 1, 1))
    bench = Bench(tmp_path, Processors(LAST, LAST), tmp_path, {}, print)
    redis.fill(cast("RedisServer", server), bench)


def test_the_first_and_the_last_record_must_be_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = Answering("2")
    filled(server, monkeypatch, tmp_path)
    assert server.asked == ("EXISTS", "user000000000000", "user000000009999")
    with pytest.raises(SystemExit, match="did not put `user000000000000` and `user000000009999`"):
        filled(Answering("1"), monkeypatch, tmp_path)


def engine(tmp_path: Path, errors: dict[str, dict[str, int]]) -> Path:
    result = {"operations": {"read": 60, "update": 40}, "errors": errors, "seconds": 0.5}
    (tmp_path / "left.json").write_text(json.dumps(result))
    return program(tmp_path / "engine", f"[ $1 = load ] && cp {tmp_path}/left.json $5/result.json")


def test_the_shot_of_the_engine_is_what_its_result_tells(tmp_path: Path) -> None:
    shot = ours.shot(engine(tmp_path, {}), {"version": 1}, PLACE, tmp_path)
    assert (shot.operations, shot.seconds) == (100, 0.5)
    assert shot.cpu > 0
    assert json.loads((tmp_path / "plan.json").read_text()) == {"version": 1}


def test_failed_operations_of_the_engine_end_the_comparison(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"the engine failed: \{'read': \{'timeout': 1\}\}"):
        ours.shot(engine(tmp_path, {"read": {"timeout": 1}}), {}, PLACE, tmp_path)
