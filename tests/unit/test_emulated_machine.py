"""What boots Debian's own kernel, without booting it."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import debian_image
import handed_in
import pytest
from debian_image import NEEDED, Image, lacking, remove_others, request, sources
from emulated_machine import Done, Machine, MachineError, argv, environment
from machine_agent import TOO_LONG, carry_out, serve

IMAGE = Image(Path("/c/root.ext4"), Path("/c/vmlinuz"), Path("/c/initrd.img"))


def test_no_processor_of_this_machine_carries_it_out_and_nothing_it_writes_is_kept() -> None:
    words = argv(IMAGE, Path("/t/handed"), Path("/t/console"), Path("/t/port"))
    assert "kvm" not in " ".join(words)
    assert words[words.index("-accel") + 1].startswith("tcg,")
    disks = [words[place + 1] for place, word in enumerate(words) if word == "-drive"]
    assert [disk.split(",")[0] for disk in disks] == ["file=/c/root.ext4", "file=/t/handed"]
    assert "snapshot=on" in disks[0]
    assert "readonly=on" in disks[1]


def test_its_clock_is_slower_than_ours() -> None:
    told = environment({"PATH": "/bin", "LC_ALL": "de_DE"})
    assert told["FAKETIME"] == "+0 x0.25"
    assert told["LC_ALL"] == "C"  # a comma would be no rate
    assert told["PATH"] == "/bin"


def test_its_image_is_another_when_what_it_is_made_of_is(monkeypatch: pytest.MonkeyPatch) -> None:
    before = request()
    assert request() == before
    monkeypatch.setattr(debian_image, "PACKAGES", (*debian_image.PACKAGES, "nano"))
    assert request() != before


def test_of_images_only_the_one_that_is_asked_for_stays(tmp_path: Path) -> None:
    for name in ("debian-12-machine-old", "debian-12-machine-new", "redis-7.0-x"):
        (tmp_path / "references").mkdir(exist_ok=True)
        (tmp_path / "references" / name).write_text(f"{name}-entry\n")
        (tmp_path / "entries" / f"{name}-entry").mkdir(parents=True)
        (tmp_path / "entries" / f"{name}-entry/root.ext4").write_text("")
    remove_others(tmp_path, "debian-12-machine-new", "debian-12-machine-new-entry")
    kept = ["debian-12-machine-new", "redis-7.0-x"]
    assert sorted(each.name for each in (tmp_path / "references").iterdir()) == kept
    entries = sorted(each.name for each in (tmp_path / "entries").iterdir())
    assert entries == [f"{each}-entry" for each in kept]


def test_what_a_kernel_was_built_without_is_named() -> None:
    lines = [f"CONFIG_{option}={'ym'[place % 2]}" for place, option in enumerate(NEEDED)]
    assert lacking("\n".join(lines)) == ()
    without = [line for line in lines if "NETEM" not in line]
    assert lacking("\n".join([*without, "# CONFIG_NET_SCH_NETEM is not set"])) == ("NET_SCH_NETEM",)


def test_only_debians_own_packages_of_that_version_go_into_it(tmp_path: Path) -> None:
    more = tmp_path / "sources.list.d"
    more.mkdir()
    (tmp_path / "sources.list").write_text("# deb http://there/debian bookworm main\n")
    (more / "debian.sources").write_text("URIs: http://there/debian\nSuites: bookworm\n")
    (more / "old.list").write_text("deb http://there/debian bullseye main\n")
    (more / "other.list").write_text("deb http://else/apt bookworm main\n")
    (more / "off.list.disabled").write_text("deb http://there/debian bookworm main\n")
    assert sources(tmp_path) == (str(more / "debian.sources"),)
    (tmp_path / "sources.list").write_text("deb http://there/debian bookworm main\n")
    assert sources(tmp_path) == (str(tmp_path / "sources.list"), str(more / "debian.sources"))


def test_of_the_cache_what_is_asked_for_by_its_beginning_is_handed_in(tmp_path: Path) -> None:
    (tmp_path / "references").mkdir()
    for name, entry in (("redis-7.0-x", "redis-1"), ("docker-x", "docker-1"), ("go-x", "go-1")):
        (tmp_path / "references" / name).write_text(f"{entry}\n")
    found = handed_in.references(("redis-", "docker-"), tmp_path)
    assert found == {"redis-7.0-x": "redis-1", "docker-x": "docker-1"}


def test_files_that_differ_from_the_commit_are_not_handed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handed_in, "changes", lambda: " M crates/engine/src/main.rs")
    with pytest.raises(LookupError, match=r"they differ from it; .*\n M crates/engine"):
        handed_in.hand_in(tmp_path, ())
    assert list(tmp_path.iterdir()) == []


class Told(list[dict[str, Any]]):
    """What an agent told."""

    def __call__(self, **told: Any) -> None:
        self.append(told)

    @property
    def said(self) -> str:
        return "".join(str(each.get("said", "")) for each in self)


def test_a_command_is_carried_out_and_its_words_and_end_are_told() -> None:
    told = Told()
    carry_out("echo out; echo err >&2; exit 3", 30, told)
    assert told.said == "out\nerr\n"
    assert told[-1] == {"code": 3}


def test_a_command_that_takes_too_long_is_ended_with_its_children() -> None:
    told = Told()
    carry_out("sleep 300 | sleep 300", 0.5, told)
    assert told == [{"code": TOO_LONG}]


def test_commands_come_in_pieces_and_the_first_may_be_late() -> None:
    line = json.dumps({"script": "echo once", "seconds": 30}).encode()
    pieces = iter([b"", line[:5], line[5:] + b"\n" + line[:1], line[1:] + b"\n", b""])
    told = Told()
    serve(lambda: next(pieces), told)
    assert told[0] == {"said": "ready"}
    assert told.said == "readyonce\nonce\n"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[tuple[Machine, socket.socket]]:
    """A machine without QEMU, and the other end of its port."""
    for name in ("qemu", "console"):
        (tmp_path / name).write_text(f"the {name} said this\n")
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(["true"])
    with ours, theirs:
        yield Machine(process, tmp_path, ours), theirs
    process.wait()


def test_what_a_machine_is_asked_is_what_its_agent_does(
    machine: tuple[Machine, socket.socket],
) -> None:
    asked, theirs = machine

    def tell(**told: object) -> None:
        theirs.sendall(f"{json.dumps(told)}\n".encode())

    agent = threading.Thread(target=serve, args=(lambda: theirs.recv(2**16), tell))
    agent.start()
    asked.begin()
    assert asked.run("echo höflich; exit 4", 1) == Done(4, "höflich\n")
    asked.end()
    agent.join(60)
    assert not agent.is_alive()


def test_a_machine_that_ends_is_told_with_what_it_said_last(
    machine: tuple[Machine, socket.socket],
) -> None:
    asked, theirs = machine
    theirs.close()
    with pytest.raises(MachineError, match=r"(?s)has ended.*qemu said this.*console said this"):
        asked.begin()
