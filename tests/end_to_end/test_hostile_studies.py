"""Malformed and adversarial study files, each told in one clear message."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import Shown, dunnage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dunnage import capabilities, catalog
from dunnage.model.offer import Capability, Support

PRESETS = sorted(Path(catalog.__file__).parent.glob("study/presets/*.yaml"))
TEXTS = tuple(path.read_text() for path in PRESETS)
FAKE = next(path for path in PRESETS if path.stem == "fake").read_text()

TRICKS = (
    "\t",
    "\x00",
    "\x1b[2J",
    "\ufeff",
    "\u202e",
    "\u200b",
    "\u2028",
    "\r",
    '"',
    "'",
    "[",
    "{",
    "}",
    ":",
    ": ",
    "- ",
    "? ",
    "|",
    ">",
    "#",
    "*a",
    "&a ",
    "!!python/object/apply:os.system [touch owned]",
    "!!python/name:os.system",
    "!!binary aGk=",
    "!!set {a}",
    "!<tag:x,2000:y> z",
    "<<: *a",
    "---\n",
    "...\n",
    "%YAML 1.1\n---\n",
    "%TAG ! tag:x,2000:\n",
    "dunnage: 1\n",
    "nаme: homoglyph\n",
    "ｄunnage: 1\n",
    "x" * 70_000,
    "[" * 500,
)
VALUES = (
    "-1",
    "0",
    "1e400",
    "-1e400",
    ".nan",
    ".inf",
    "9" * 400,
    "0x" + "f" * 100,
    "1_0",
    "1:30",
    "٣",
    "true",
    "no",
    "~",
    "",
    "''",
    "[]",
    "{}",
    "[[[]]]",
    "{a: {b: {c: d}}}",
    "2024-01-01",
    "5 parsec",
    "1" + "0" * 60 + "s",
    '"a\\nb"',
    '"\\e[2J"',
    '"\\uD800"',
    '"' + "x" * 3000 + '"',
    "!!int x",
    "*nowhere",
    "&a [*a]",
    "$(touch owned)",
    "../../owned",
    "<script>",
)


def _lines() -> st.SearchStrategy[tuple[str, int]]:
    """One of the presets, and the number of a line that says something."""

    def lines(text: str) -> st.SearchStrategy[tuple[str, int]]:
        saying = [
            number
            for number, line in enumerate(text.splitlines())
            if line.strip() and not line.strip().startswith("#")
        ]
        return st.tuples(st.just(text), st.sampled_from(saying))

    return st.sampled_from(TEXTS).flatmap(lines)


def _changed(chosen: tuple[str, int], line: str | None, *, beside: bool = False) -> str:
    """The text with a line exchanged, removed, or with another one below it."""
    text, number = chosen
    lines = text.splitlines()
    old = lines[number]
    lines[number : number + 1] = [
        each for each in (old if beside else None, line) if each is not None
    ]
    return "\n".join(lines) + "\n"


@st.composite
def wrong_values(draw: st.DrawFn) -> bytes:
    """A key with a value that it cannot have."""
    chosen = draw(_lines())
    line = chosen[0].splitlines()[chosen[1]]
    key, colon, _ = line.partition(":")
    return _changed(chosen, f"{key}{colon} {draw(st.sampled_from(VALUES))}").encode()


@st.composite
def wrong_lines(draw: st.DrawFn) -> bytes:
    """A line removed, doubled, or indented otherwise."""
    chosen = draw(_lines())
    line = chosen[0].splitlines()[chosen[1]]
    wrong = draw(st.sampled_from((None, f"   {line}", line.lstrip(), f"\t{line}", line * 2)))
    return _changed(chosen, line if wrong is None else wrong, beside=wrong is None).encode()


@st.composite
def removed_lines(draw: st.DrawFn) -> bytes:
    """Several lines gone."""
    text = draw(st.sampled_from(TEXTS))
    lines = text.splitlines()
    gone = draw(st.sets(st.integers(0, len(lines) - 1), min_size=1, max_size=12))
    return "\n".join(line for number, line in enumerate(lines) if number not in gone).encode()


@st.composite
def tricks(draw: st.DrawFn) -> bytes:
    """Something where it does not belong."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(TRICKS)) + text[place:]
    ending = draw(st.sampled_from(("\n", "\r\n", "\r")))
    return text.replace("\n", ending).encode("utf-8", "surrogatepass")


@st.composite
def broken_bytes(draw: st.DrawFn) -> bytes:
    """Bytes that are no text, or another one than was meant."""
    content = draw(st.sampled_from(TEXTS)).encode()
    coding = draw(st.sampled_from(("cut", "utf-16", "utf-32", "noise", "latin-1", "binary")))
    if coding == "cut":
        return content[: draw(st.integers(0, len(content)))]
    if coding == "binary":
        return draw(st.binary(max_size=400))
    if coding == "latin-1":
        return content.replace(b"name: ", b"name: \xe9", 1)
    if coding == "noise":
        place = draw(st.integers(0, len(content)))
        return content[:place] + draw(st.binary(min_size=1, max_size=8)) + content[place:]
    return content.decode().encode(coding)


@pytest.fixture(scope="module", autouse=True)
def capable() -> Iterator[None]:
    """Whatever this machine can do, the studies are judged alike, and nothing is started."""
    able: defaultdict[Capability, Support] = defaultdict(lambda: Support(met=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capabilities, "supports", lambda _: able)
        yield


def assert_clear(shown: Shown, content: bytes, path: Path) -> None:
    """One message: which file, how many problems, where each of them is."""
    assert shown.code == 2
    assert shown.out == ""
    assert shown.harmless, shown.err
    assert "Traceback" not in shown.err
    head, *rest = shown.err.splitlines()
    told = [line for line in rest if line.startswith("  ") and line[2] != " "]
    assert all(line.startswith("  ") for line in rest), shown.err
    assert len(shown.err) < 60_000
    hint = told.pop()
    assert hint.startswith("  try: dunnage ")
    more = [line for line in told if line.startswith("  and ")]
    count = len(told) + sum(int(line.split()[1]) - 1 for line in more)
    assert head == f"dunnage: {path}: {count} problem{'s' if count != 1 else ''}"
    for line in told:
        if line.startswith("  line "):
            number = int(line.split()[1].rstrip(":"))
            assert 0 < number <= len(content.splitlines()) + 1


@pytest.mark.parametrize("examples", [50, pytest.param(1000, marks=pytest.mark.proof)])
def test_spoilt_studies_end_in_one_clear_message_each(tmp_path: Path, examples: int) -> None:
    path = tmp_path / "study.yaml"
    refused = 0

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(st.one_of(wrong_values(), wrong_lines(), removed_lines(), tricks(), broken_bytes()))
    def spoilt(content: bytes) -> None:
        nonlocal refused
        path.write_bytes(content)
        shown = dunnage("plan", path)
        if shown.code == 0:
            return  # what was changed was a comment, or a value for another good one
        assert_clear(shown, content, path)
        refused += 1

    spoilt()
    assert refused >= examples / 2
    assert [each.name for each in tmp_path.iterdir()] == ["study.yaml"]


def _laughs() -> bytes:
    """A billion of them, by aliases of aliases."""
    lines = ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(lines).encode()


MONSTERS = {
    "a billion laughs": _laughs(),
    "laughs among keys": b"a: &a {b: 1}\n"
    + b"\n".join(b"k%d: {x: *a, y: *a}" % n for n in range(3000)),
    "deep lists": b"[" * 150_000,
    "deep mappings": b"{a: " * 45_000,
    "deep blocks": b"\n".join(b" " * n + b"a:" for n in range(600)),
    "one long line": b"name: " + b"x" * 20_000_000,
    "one long quantity": FAKE.replace("warmup: 1s", 'warmup: "1s' + " " * 150_000 + 'x"').encode(),
    "many digits": b"seed: " + b"7" * 150_000,
    "many keys": b"\n".join(b"k%d: 1" % n for n in range(50_000)),
    "many documents": b"--- a\n" * 20_000,
    "objects": b"!!python/object/apply:os.system ['touch owned']",
    "nothing": b"",
    "zeros": b"\x00" * 1_000_000,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 50,
}


@pytest.mark.parametrize("name", MONSTERS)
def test_monsters_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(MONSTERS[name])
    assert_clear(dunnage("plan", path), MONSTERS[name], path)


GIBIBYTE = 2**30


def _bounded() -> None:
    """At most two gibibytes of address space and a minute of processor time for what follows."""
    resource.setrlimit(resource.RLIMIT_AS, (2 * GIBIBYTE, 2 * GIBIBYTE))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


@pytest.mark.parametrize("name", ["a billion laughs", "deep lists", "one long line", "/dev/zero"])
def test_the_real_command_refuses_monsters_within_little_memory(name: str, tmp_path: Path) -> None:
    path = Path(name) if name.startswith("/") else tmp_path / "study.yaml"
    content = MONSTERS.get(name, b"")
    if content:
        path.write_bytes(content)
    ended = subprocess.run(
        [sys.executable, "-m", "dunnage", "run", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        preexec_fn=_bounded,
        start_new_session=True,
    )
    assert ended.returncode == 2, ended.stderr
    assert ended.stdout == ""
    wrong = r"\d+ problem" if content else "cannot read the study: this is a device"
    assert re.match(rf"dunnage: {re.escape(str(path))}: {wrong}", ended.stderr), ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "owned").exists()
    assert not (tmp_path / "results").exists()
