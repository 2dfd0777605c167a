"""What the guides show is what the program takes: every study, every command, every link."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
from hostile import dunnage

from dunnage import catalog
from dunnage.cli.command_line import command_line
from dunnage.study.read import read_study

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
    *sorted((ROOT / "docs" / "concepts").glob("*.md")),
)
BLOCK = re.compile(r"^```([a-z]*)[ ]?([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str, mark: str = "") -> list[tuple[str, str]]:
    """Where each fenced block of a language stands, and what it says."""
    found = []
    for page in PAGES:
        for match in BLOCK.finditer(page.read_text()):
            line = page.read_text().count("\n", 0, match.start()) + 2
            if match[1] == language and mark in ("", match[2]):
                found.append((f"{page.relative_to(ROOT)}:{line}", match[3]))
    return found


def commands(text: str) -> list[list[str]]:
    """The words of every command of ours in a block, without its comment."""
    lines = (line.removeprefix("$ ") for line in text.splitlines())
    return [shlex.split(line, comments=True) for line in lines if line.startswith("dunnage ")]


STUDIES = blocks("yaml")
COMMANDS = [
    (where, words)
    for language in ("console", "")
    for where, text in blocks(language)
    for words in commands(text)
]


def test_there_is_something_to_check() -> None:
    assert len(PAGES) >= 10
    assert len(STUDIES) >= 8
    assert len(COMMANDS) >= 20


@pytest.mark.parametrize(("where", "text"), STUDIES, ids=[where for where, _ in STUDIES])
def test_every_study_in_the_documentation_is_one(where: str, text: str) -> None:
    assert read_study(text, where, catalog.OFFER).name


@pytest.mark.parametrize(
    ("where", "words"), COMMANDS, ids=[f"{where} {' '.join(words)}" for where, words in COMMANDS]
)
def test_every_command_in_the_documentation_is_understood(where: str, words: list[str]) -> None:
    _, verb, *rest = words
    if verb == "--help":
        return
    group = typer.main.get_command(command_line(verb))
    command = getattr(group, "commands", {})[verb]
    assert command.make_context(verb, rest) is not None


def test_what_can_be_done_with_fakes_is_done_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "studies").symlink_to(ROOT / "studies")
    walked = [words for _, text in blocks("console", "fakes") for words in commands(text)]
    walked += [["dunnage", "quickstart", "--fake"], ["dunnage", "status"], ["dunnage", "report"]]
    walked += [["dunnage", "init", "my-study.yaml"]]
    assert all(words in [each for _, each in COMMANDS] for words in walked)
    for _, *words in walked:
        shown = dunnage(*words)
        assert shown.code == 0, (words, shown.err)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"
