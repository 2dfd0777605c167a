"""Programs of a Kubernetes are restarted however they end, once they have come up."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from dunnage.model.record import Restart
from dunnage.substrates.kubernetes import restarting as module
from dunnage.substrates.kubernetes.place import Component
from dunnage.substrates.kubernetes.restarting import restarting, restarts_of


def ended(tmp_path: Path, script: str, around: tuple[str, ...] = ()) -> tuple[int, str]:
    """How a program ends that is a script of the shell, and what was said."""
    program = Component("etcd", ("sh", "-c", script), around=around)
    done = subprocess.run(
        restarting(program, str(tmp_path / "restarts")),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stderr


def told(tmp_path: Path, ahead: float = 0.0) -> list[Restart]:
    return list(restarts_of((tmp_path / "restarts").read_text(), "control-1", ahead))


def starts(tmp_path: Path) -> int:
    return (tmp_path / "starts").read_text().count("x")


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two restarts in a row at most: their pauses double."""
    monkeypatch.setattr(module, "MOST", 2)


@pytest.mark.usefixtures("twice")
def test_a_program_that_is_killed_is_restarted_and_that_is_written_down(tmp_path: Path) -> None:
    began = time.time()
    code, said = ended(tmp_path, "echo x >> starts; kill -TERM $$")
    assert code == 128 + signal.SIGTERM
    assert said.count("dunnage: it ended by signal 15 and is restarted") == 2
    assert starts(tmp_path) == 3
    restart, again = told(tmp_path)
    assert (restart.host, restart.program) == ("control-1", "etcd")
    assert restart.code == again.code == -signal.SIGTERM
    assert began <= restart.time <= again.time <= time.time()
    by_our_clock, _ = told(tmp_path, ahead=100.0)
    assert by_our_clock.time == pytest.approx(restart.time - 100.0)


@pytest.mark.parametrize("code", [0, 1, 128, 193, 255])
def test_a_program_that_does_not_come_up_is_not_restarted(tmp_path: Path, code: int) -> None:
    """Not even as a fatal error of Kubernetes' own programs ends them, with 255."""
    assert ended(tmp_path, f"echo x >> starts; exit {code}") == (code, "")
    assert starts(tmp_path) == 1
    assert not (tmp_path / "restarts").exists()


@pytest.mark.parametrize("code", [0, 2])
@pytest.mark.usefixtures("twice")
def test_a_program_that_lasted_is_restarted_however_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """With 0 a program of Go's ends that was asked to, and with 2 one that crashed."""
    monkeypatch.setattr(module, "LASTING", 2)
    lasts_once = f"[ -e once ] || {{ touch once; sleep 2.1; }}; echo x >> starts; exit {code}"
    assert ended(tmp_path, lasts_once)[0] == code
    assert [each.code for each in told(tmp_path)] == [code, code]
    assert starts(tmp_path) == 3


@pytest.mark.usefixtures("twice")
def test_what_needs_a_program_that_is_just_restarted_is_restarted_until_that_is_there(
    tmp_path: Path,
) -> None:
    """Both are killed at once: the one that depends then ends by itself."""
    needs = "echo x >> starts; case $(wc -l < starts) in 1) kill -KILL $$ ;; 2) exit 1 ;; esac"
    assert ended(tmp_path, needs)[0] == 0
    assert [each.code for each in told(tmp_path)] == [-signal.SIGKILL, 1]


@pytest.mark.usefixtures("twice")
def test_after_a_program_lasted_its_restarts_are_counted_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LASTING", 2)
    lasts_third = "echo x >> starts; [ $(wc -l < starts) != 3 ] || sleep 2.1; kill -KILL $$"
    assert ended(tmp_path, lasts_third)[0] == 128 + signal.SIGKILL
    assert starts(tmp_path) == 5


@pytest.mark.usefixtures("twice")
def test_what_is_around_a_program_begins_once(tmp_path: Path) -> None:
    around = ("sh", "-c", 'echo "$1" >> begun; shift; exec "$@"', "sh", "here")
    ended(tmp_path, "kill -KILL $$", around)
    assert (tmp_path / "begun").read_text() == "here\n"
    assert len(told(tmp_path)) == 2


def test_lines_that_are_not_whole_tell_nothing() -> None:
    whole = "1700000000.500000000 -9 kubelet\n", "1700000001.250000000 2 kube-proxy\n"
    torn = " -9 etcd\n", "17", "1700000000.1", "1700000002.000000000 -9 con"
    text = f"{whole[0]}{torn[0]}{whole[1]}{torn[1]}{whole[0]}{torn[2]}{whole[1]}{torn[3]}"
    assert list(restarts_of(text, "db-1", 0.5)) == [
        Restart(host="db-1", program="kubelet", code=-9, time=1_700_000_000.0),
        Restart(host="db-1", program="kube-proxy", code=2, time=1_700_000_000.75),
    ]
