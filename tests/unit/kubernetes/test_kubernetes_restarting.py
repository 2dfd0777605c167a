"""Programs of a Kubernetes are restarted when they are killed, and never when they end."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from dunnage.model.record import Restart
from dunnage.substrates.kubernetes.place import Component
from dunnage.substrates.kubernetes.restarting import MOST, restarting, restarts


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
    return list(restarts((tmp_path / "restarts").read_text(), "control-1", ahead))


def test_a_program_that_is_killed_is_restarted_and_that_is_written_down(tmp_path: Path) -> None:
    began = time.time()
    code, said = ended(tmp_path, "[ -e once ] && exit 0; touch once; kill -TERM $$")
    assert code == 0
    assert "dunnage: it was ended by signal 15 and is restarted" in said
    (restart,) = told(tmp_path)
    assert (restart.host, restart.program) == ("control-1", "etcd")
    assert restart.signal == signal.SIGTERM
    assert began <= restart.time <= time.time()
    (by_our_clock,) = told(tmp_path, ahead=100.0)
    assert by_our_clock.time == pytest.approx(restart.time - 100.0)


def test_after_some_restarts_its_end_is_final(tmp_path: Path) -> None:
    code, _ = ended(tmp_path, "echo x >> starts; kill -KILL $$")
    assert code in (-9, 137)  # a shell that became the program, or one that waited
    assert (tmp_path / "starts").read_text() == (MOST + 1) * "x\n"
    assert [each.signal for each in told(tmp_path)] == MOST * [signal.SIGKILL]


@pytest.mark.parametrize("code", [0, 3, 255])
def test_a_program_that_ends_by_itself_is_not_restarted(tmp_path: Path, code: int) -> None:
    """Not even as a fatal error of Kubernetes' own programs ends them, with 255."""
    assert ended(tmp_path, f"echo x >> starts; exit {code}") == (code, "")
    assert (tmp_path / "starts").read_text() == "x\n"
    assert not (tmp_path / "restarts").exists()


def test_what_is_around_a_program_begins_once(tmp_path: Path) -> None:
    around = ("sh", "-c", 'echo "$1" >> begun; shift; exec "$@"', "sh", "here")
    code, _ = ended(tmp_path, "[ -e once ] && exit 5; touch once; kill -KILL $$", around)
    assert code == 5
    assert (tmp_path / "begun").read_text() == "here\n"
    assert len(told(tmp_path)) == 1


def test_lines_that_are_not_whole_tell_nothing() -> None:
    text = "1700000000.5 9 kubelet\n 9 etcd\n1700000001.25 11 kube-proxy\n1700000002.0 9 con"
    assert list(restarts(text, "db-1", 0.5)) == [
        Restart(host="db-1", program="kubelet", signal=9, time=1_700_000_000.0),
        Restart(host="db-1", program="kube-proxy", signal=11, time=1_700_000_000.75),
    ]
