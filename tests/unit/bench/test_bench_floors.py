"""The bare clients in C: they ask for what they are told, one at a time on each connection."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from engine import floors
from engine.asked import Asked, Kind, Place
from engine.shape import HASH, RECORDS, SHAPE, STRINGS, Shape, array
from engine.shots import Shot, ran
from stand_in_redis import StandInRedis, answering

LAST = max(os.sched_getaffinity(0))


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("floors")
    return {name: floors.built(name, directory) for name in ("epoll", "blocking")}


def taken(program: Path, server: StandInRedis, asked: Asked, shape: Shape = HASH) -> Shot:
    return floors.shot(program, Place(server.port, LAST), asked, shape)


@pytest.mark.parametrize(("name", "connections"), [("epoll", 7), ("blocking", 1)])
@pytest.mark.parametrize("shape", [HASH, STRINGS])
@pytest.mark.parametrize("kind", list(Kind))
def test_a_floor_carries_out_what_it_is_asked_for(
    programs: dict[str, Path], name: str, connections: int, shape: Shape, kind: Kind
) -> None:
    words, answer = (shape.read, shape.found) if kind is Kind.READ else (shape.write, shape.written)
    with answering(len(array(words)), answer) as server:
        shot = taken(programs[name], server, Asked(kind, connections, 300), shape)
    assert shot.operations == len(server.came) == 300
    assert shot.seconds > 0 and shot.cpu > 0
    assert server.connections == connections
    assert server.more_in_flight == 0
    before, after = array(words).split(b"__rand_int__")
    numbers = set()
    for request in server.came:
        assert request.startswith(before) and request.endswith(after)
        number = request[len(before) : -len(after)].decode()
        assert re.fullmatch(r"\d{12}", number)
        numbers.add(int(number))
    assert max(numbers) < RECORDS
    assert len(numbers) > 200, "the records are not those of all numbers"


@pytest.mark.parametrize(("name", "connections"), [("epoll", 3), ("blocking", 1)])
def test_an_answer_may_come_in_pieces(
    programs: dict[str, Path], name: str, connections: int
) -> None:
    pieces = (HASH.found[:1], HASH.found[1:700], HASH.found[700:])
    with answering(len(array(HASH.read)), *pieces) as server:
        shot = taken(programs[name], server, Asked(Kind.READ, connections, 60))
    assert shot.operations == len(server.came) == 60


def test_with_fewer_operations_than_connections_no_more_are_asked(
    programs: dict[str, Path],
) -> None:
    with answering(len(array(HASH.read)), HASH.found) as server:
        taken(programs["epoll"], server, Asked(Kind.READ, 7, 2))
    assert len(server.came) == 2


@pytest.mark.parametrize("name", ["epoll", "blocking"])
@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        ((b"-ERR broken\r\n",), "the server answered: -ERR broken$"),
        ((HASH.found + b"$",), "an answer is longer than ANSWER_BYTES$"),
        ((), "the server closed the connection$"),
    ],
)
def test_a_server_that_answers_otherwise_ends_a_floor(
    programs: dict[str, Path], name: str, pieces: tuple[bytes, ...], told: str
) -> None:
    with (
        answering(len(array(HASH.read)), *pieces) as server,
        pytest.raises(SystemExit, match=told),
    ):
        taken(programs[name], server, Asked(Kind.READ, 1, 10))


@pytest.mark.parametrize(
    ("words", "request_", "told"),
    [
        ("1 1 1 1 1", b"*1\r\n$4\r\nPING\r\n", "the request has no __rand_int__"),
        ("1 1 1 1 2", b"__rand_int__", "2: a whole number from 1 to 1 is wanted"),
        ("65536 1 1 1 1", b"__rand_int__", "65536: a whole number from 1 to 65535 is wanted"),
        ("1 0 1 1 1", b"__rand_int__", "0: a whole number from 1 to 1000000000000 is wanted"),
        ("1 1 x 1 1", b"__rand_int__", "x: a whole number from 1 to 1000000000000 is wanted"),
        ("1 1 1 1", b"__rand_int__", "REQUEST is one request"),
        ("1 1 1 1 1", b"__rand_int__", "connect: Connection refused"),
    ],
)
def test_a_floor_says_what_it_wants(
    programs: dict[str, Path], words: str, request_: bytes, told: str
) -> None:
    with pytest.raises(SystemExit, match=told):
        ran([str(programs["blocking"]), *words.split()], LAST, request_)


def test_without_a_compiler_the_packages_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="sudo apt-get install gcc libc6-dev"):
        floors.compiler()


def test_what_cannot_be_compiled_is_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"(?s)`cc .*floor/nothing\.c` failed:.*nothing\.c"):
        floors.built("nothing", tmp_path)


def test_the_compiler_names_itself() -> None:
    assert re.search(r"\d+\.\d+", floors.compiler())


def test_all_clients_read_and_write_a_thousand_bytes() -> None:
    assert SHAPE in (HASH, STRINGS)
    assert HASH.found.count(b"x") == STRINGS.found.count(b"x") == 1000
    assert array(HASH.write).count(b"x") == array(STRINGS.write).count(b"x") == 1000
    assert array(STRINGS.read) == b"*2\r\n$3\r\nGET\r\n$16\r\nuser__rand_int__\r\n"
