"""Terminals, locales and encodings that others have: never a traceback, always readable."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from in_process import said_here

STUDY = Path("studies/fake.yaml").resolve()

COMMAS = "decimal commas"
_LOCALE = "xx_XX.UTF-8"
_NUMBERS = """\
LC_NUMERIC
decimal_point ","
thousands_sep "."
grouping 3;3
END LC_NUMERIC
"""
_CHARACTERS = """\
<code_set_name> UTF-8
<mb_cur_max> 6
<escape_char> /
CHARMAP
<U0000>..<U007F> /x00
END CHARMAP
"""
_READ_BACK = """\
import locale
locale.setlocale(locale.LC_ALL, "")
print(locale.localeconv()["decimal_point"])
"""

ENVIRONMENTS: Mapping[str, Mapping[str, str]] = {
    "ascii": {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    "latin-1": {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"},
    "locale C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "locale unknown": {"LC_ALL": "xx_YY.UTF-8"},
    COMMAS: {"LC_ALL": "", "LANG": "C.UTF-8", "LC_NUMERIC": _LOCALE},
    "40 columns": {"COLUMNS": "40"},
    "200 columns": {"COLUMNS": "200"},
    "1 column": {"COLUMNS": "1"},
    "dumb": {"TERM": "dumb"},
    "no terminal": {"TERM": ""},
    "no colour": {"NO_COLOR": "1"},
    "forced colour": {"FORCE_COLOR": "1"},
    "no home": {"HOME": "/nonexistent"},
    "small directory for temporary files": {"TMPDIR": "/nonexistent"},
}

NO_WIDTHS: Mapping[str, Mapping[str, str]] = {
    "columns of nonsense": {"COLUMNS": "wide"},
    "columns not known": {"COLUMNS": "0", "LINES": "0"},
    "columns not known, at length": {"COLUMNS": "000"},
    "columns empty": {"COLUMNS": "", "LINES": ""},
    "columns below zero": {"COLUMNS": "-80"},
    "columns with a fraction": {"COLUMNS": "80.5"},
    "columns in other digits": {"COLUMNS": "²", "LINES": "②"},
    "columns without end": {"COLUMNS": "9" * 20, "LINES": "9" * 20},
}

LARGEST_AND_LEAST = ("columns without end", "columns not known")

VERBS: Mapping[str, tuple[str, ...]] = {
    "help": ("--help",),
    "plan": ("plan", str(STUDY)),
    "doctor": ("doctor",),
    "status": ("status", "{result}"),
    "report": ("report", "{result}", "--details"),
    "compare": ("compare", "{result}", "{other}"),
    "verify": ("verify", "{result}"),
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return carried_out(tmp_path_factory.mktemp("environments"))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another one of the same study."""
    return carried_out(tmp_path_factory.mktemp("other"))


@pytest.fixture(scope="module")
def answer(result: Path) -> dict[str, Any]:
    """What `report` says of the result to a program."""
    said: dict[str, Any] = json.loads(typed({}, "report", str(result), "--format", "json").stdout)
    return said


@pytest.fixture(scope="module")
def plain(result: Path) -> Mapping[tuple[str, ...], bytes]:
    """Some verbs → what they say at 80 columns."""
    verbs = (("plan", str(STUDY)), ("report", str(result)))
    return {words: typed({"COLUMNS": "80"}, *words).stdout for words in verbs}


@pytest.fixture(scope="module", autouse=True)
def locales(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Locales with one of decimal commas: a machine need not have any such."""
    source, compiled = (tmp_path_factory.mktemp(name) for name in ("source", "compiled"))
    (source / "numbers").write_text(_NUMBERS)
    (source / "characters").write_text(_CHARACTERS)
    # By `--force`, as this locale says nothing but how numbers are written.
    made = subprocess.run(
        [
            "/usr/bin/localedef",
            "--force",
            "--no-archive",
            f"--inputfile={source}/numbers",
            f"--charmap={source}/characters",
            str(compiled / _LOCALE),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (compiled / _LOCALE / "LC_NUMERIC").is_file(), made.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCPATH", str(compiled))
        yield compiled


def carried_out(results: Path) -> Path:
    words = ("run", str(STUDY), "--blocks", "2", "--results", str(results), "--format", "json")
    shown = typed({}, *words)
    assert shown.returncode == 0, shown.stderr
    return Path(json.loads(shown.stdout)["result"])


def typed(environment: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[bytes]:
    """The command line, as somebody else's shell starts it."""
    return subprocess.run(
        [sys.executable, "-m", "dunnage", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_verbs_are_readable_everywhere(name: str, result: Path, other: Path) -> None:
    environment = ENVIRONMENTS[name]
    verbs = VERBS if name == "ascii" else {"report": VERBS["report"]}  # it says the most
    for verb, words in verbs.items():
        shown = typed(environment, *(word.format(result=result, other=other) for word in words))
        said = (shown.stdout + shown.stderr).decode("latin-1")
        assert "Traceback" not in said, (verb, said)
        assert "please report it" not in said, (verb, said)
        assert shown.returncode in (0, 5), (verb, said)
        assert shown.stdout or shown.stderr
        if "ascii" in environment.get("PYTHONIOENCODING", ""):
            assert said.isascii(), (verb, said)
            assert "?" not in said.replace("?", "", said.count("? ")), (verb, said)


@pytest.mark.parametrize("name", ["ascii", "latin-1", "locale C", COMMAS, "no home"])
def test_json_says_the_same_everywhere(name: str, result: Path, answer: dict[str, Any]) -> None:
    shown = typed(ENVIRONMENTS[name], "report", str(result), "--format", "json")
    assert json.loads(shown.stdout) == answer


def test_numbers_are_shown_alike_where_others_write_decimal_commas(result: Path) -> None:
    point = subprocess.run(
        [sys.executable, "-c", _READ_BACK],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **ENVIRONMENTS[COMMAS]},
        timeout=60,
        check=True,
    )
    assert point.stdout == ",\n"
    for words in (("report", str(result), "--details"), ("plan", str(STUDY))):
        assert typed(ENVIRONMENTS[COMMAS], *words).stdout == typed({}, *words).stdout


@pytest.mark.parametrize(
    ("name", "shown_as"),
    [
        ("Überprüfung", r"\xdcberpr\xfcfung"),
        ("10µs", r"10\xb5s"),
        ("a–b", r"a\u2013b"),
        ("ä" * 80, r"\xe4" * 59 + "..."),
    ],
)
def test_a_name_that_is_refused_is_not_shown_as_one_that_is_allowed(
    name: str, shown_as: str, tmp_path: Path
) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.read_text().replace("name: fake", f"name: {name}"), encoding="utf-8")
    said = typed(ENVIRONMENTS["locale C"], "plan", str(study)).stderr.decode("ascii")
    assert f": `{shown_as}` is not a valid name\n" in said


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "nowhere.yaml", "--format", "json"),
        ("status", "nowhere", "--format=json"),
        ("report", "nowhere", "--format", "json"),
        ("compare", "nowhere", "neither", "--format", "json"),
        ("plan", "--nonsense", "--format", "json"),
    ],
)
def test_errors_are_json_where_answers_would_be(words: tuple[str, ...], tmp_path: Path) -> None:
    code, answer, messages = said_here(*words)
    error = json.loads(answer)["error"]
    assert error["exit_code"] == code == 2
    assert error["what"]
    assert error["what"] in messages


def test_all_problems_of_a_study_are_in_the_json(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.read_text().replace("blocks: 6", "blocks: six").replace("plain", "p"))
    _, answer, _ = said_here("plan", study, "--format", "json")
    problems = json.loads(answer)["error"]["problems"]
    assert len(problems) > 1
    assert all(problem["line"] > 0 and problem["what"] for problem in problems)


@pytest.mark.parametrize("name", NO_WIDTHS)
def test_a_width_that_no_terminal_has_is_no_width(
    name: str, plain: Mapping[tuple[str, ...], bytes]
) -> None:
    for words, said in plain.items() if name in LARGEST_AND_LEAST else [*plain.items()][:1]:
        shown = typed(NO_WIDTHS[name], *words)
        assert (shown.returncode, shown.stdout) == (0, said), shown.stderr
        assert b"Traceback" not in shown.stderr
