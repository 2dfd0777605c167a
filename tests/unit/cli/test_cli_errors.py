"""Errors are shown whole and as they are: nothing in them is markup or steers a terminal."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import Command

from dunnage.cli.shared.terminal import err, say_wrapped, show_error, typed
from dunnage.errors import Problem, RunError, StudyError

FAKE = Path(__file__).parents[3] / "studies" / "fake.yaml"
HOSTILE = "[bold]x[/] [/] [link=http://a]y[/link] \x1b[2J\x1b]0;owned\x07 back\\"
HARMLESS = "[bold]x[/] [/] [link=http://a]y[/link] \ufffd[2J\ufffd]0;owned\ufffd back\\"


def test_every_problem_of_a_study_is_shown_with_its_line_and_hint(
    capsys: pytest.CaptureFixture[str],
) -> None:
    problems = tuple(Problem(line, f"mistake {line}", f"remedy {line}") for line in range(12))
    show_error(StudyError("study.yaml", problems, hint="dunnage plan study.yaml"))
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[0] == "dunnage: study.yaml: 12 problems"
    assert lines[1:3] == ["  mistake 0", "    remedy 0"]
    assert lines[3:5] == ["  line 1: mistake 1", "    remedy 1"]
    assert lines[-1] == "  try: dunnage plan study.yaml"
    assert len(lines) == 1 + 2 * 12 + 1


def test_hostile_text_is_shown_as_it_is_wherever_it_stands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = RunError(HOSTILE, where=HOSTILE, hint=HOSTILE)
    error.add_note(HOSTILE)
    show_error(error)
    show_error(StudyError(HOSTILE, (Problem(1, HOSTILE, HOSTILE),)))
    assert capsys.readouterr().err.splitlines() == [
        f"dunnage: {HARMLESS}: {HARMLESS}",
        f"  {HARMLESS}",
        f"  try: {HARMLESS}",
        f"dunnage: {HARMLESS}: 1 problem",
        f"  line 1: {HARMLESS}",
        f"    {HARMLESS}",
    ]


def test_a_place_is_not_taken_for_the_key_of_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    show_error(RunError("damaged: password: geheim", where="db.passwd"))
    assert capsys.readouterr().err == "dunnage: db.passwd: damaged: password: •••\n"


def test_long_messages_are_not_broken_in_the_middle_of_a_path(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    path = "/tmp/" + "directory/" * 20
    show_error(RunError("failed", where=path, hint=f"dunnage run --resume {path}"))
    assert capsys.readouterr().err.splitlines()[-1].endswith(path)


def test_problems_are_wrapped_in_a_narrow_terminal_and_hang_below_their_beginning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(err, "_width", 40)
    what = "the sampler `engine` cannot run on fake hosts; write-another-one-that-is-a-fake, too"
    hint = "a remedy that has many words as its own"
    error = StudyError("study.yaml", (Problem(12, what, hint),))
    path = f"/tmp/{'directory/' * 9}"
    error.add_note(f"a note on\n{path} with several words")
    show_error(error)
    in_one_line = capsys.readouterr().err
    assert f"  line 12: {what}\n    {hint}\n" in in_one_line
    monkeypatch.setattr(err, "_force_terminal", True)
    monkeypatch.setattr(err, "no_color", True)
    monkeypatch.setattr(err, "_color_system", None)
    show_error(error)
    lines = capsys.readouterr().err.splitlines()
    assert lines[1:] == [
        "  line 12: the sampler `engine` cannot",
        "    run on fake hosts;",
        "    write-another-one-that-is-a-fake,",
        "    too",
        f"    {hint}",
        "  a note on",
        f"  {path}",
        "    with several words",
    ]


def test_in_a_narrow_terminal_no_secret_is_broken_and_no_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_width", 24), ("_force_terminal", True), ("_color_system", None)):
        monkeypatch.setattr(err, name, value)
    monkeypatch.setattr(err, "commands", False)
    command = "type: dunnage run --results somewhere --only plain"
    say_wrapped("the server was asked with password: 'my own secret words' and refused")
    assert not err.commands
    say_wrapped(command, indent=4)
    assert err.commands
    shown = capsys.readouterr().err
    assert not any(word in shown for word in ("own", "secret"))
    assert shown.endswith(f"    {command}\n")


def test_a_command_to_type_survives_a_shell() -> None:
    name = "a b/$(touch owned)/'quote'/[bold]"
    assert shlex.split(typed("run", "--resume", Path(name))) == ["dunnage", "run", "--resume", name]
    assert typed("plan", "study.yaml") == "dunnage plan study.yaml"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "--nonsense"), "--nonsense"),
        (("[/]",), "[/]"),
        (("plan",), "study"),
        (("plan", "x.yaml", "--format", "xml"), "xml"),
        (("run",), "name either a study or `--resume`"),
        (("run", "x.yaml", "--resume", "y"), "name either a study or `--resume`"),
        (("run", "--resume", "y", "--only", "z"), "`--only` is for a new result"),
        (("schema", "[bold]x"), "there is no schema `[bold]x`"),
        (("plan", "nowhere/[bold].yaml"), "nowhere/[bold].yaml"),
    ],
)
def test_a_wrong_command_line_is_told_in_a_sentence(
    dunnage: Command, words: tuple[str, ...], told: str
) -> None:
    shown = dunnage(*words)
    assert shown.code == 2
    assert shown.out == ""
    assert shown.err.startswith("dunnage: ")
    assert told in shown.err
    assert "Traceback" not in shown.err


def test_without_a_verb_the_help_is_shown(dunnage: Command) -> None:
    shown = dunnage()
    assert shown.code == 2
    assert "quickstart" in shown.out
    assert shown.err == ""


def test_ctrl_c_is_told_without_a_traceback(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dunnage.lab_tool.clean", interrupted)
    shown = dunnage("clean")
    assert shown.code == 130
    assert shown.err == "dunnage: interrupted\n"


def test_ctrl_c_while_the_answer_is_made_tells_how_to_see_it(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dunnage.cli.shared.carrying_out.answer", interrupted)
    shown = dunnage("run", FAKE, "--only", "late", "--results", tmp_path)
    (result,) = (tmp_path / "fake").iterdir()
    assert shown.code == 130
    assert "every run is kept" in shown.err
    assert f"try: dunnage report {result}\n" in shown.err


def test_ctrl_c_while_it_is_told_how_it_ended_is_no_traceback(
    dunnage: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dunnage.lab_tool.clean", interrupted)
    monkeypatch.setattr("dunnage.cli.command_line.say", interrupted)
    assert dunnage("clean").code == 130


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_a_signal_while_python_ends_changes_nothing(number: signal.Signals) -> None:
    """Python calls what is to be called at its end, and then removes what there is. A study that
    was asked to end hears all of these as Ctrl-C."""
    struck = (
        "import atexit, os, signal, sys; from dunnage.cli.main import main; "
        f"signal.signal({number:d}, signal.default_int_handler); "
        f"kill = lambda kill=os.kill, own=os.getpid(): kill(own, {number:d}); "
        "atexit.register(kill); "
        "Last = type('Last', (), {'__del__': lambda self, kill=kill: kill()}); last = Last(); "
        "sys.argv = ['dunnage', '--version']; main()"
    )
    command = [sys.executable, "-c", struck]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_nothing_is_loaded_before_ctrl_c_is_heard() -> None:
    loaded = "import sys; known = {*sys.modules}; import dunnage.cli; print({*sys.modules} - known)"
    command = [sys.executable, "-c", loaded]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert eval(ended.stdout) == {"dunnage", "dunnage.cli"}  # noqa: S307


STRUCK = """
import os, sys
from _signal import default_int_handler, signal
signal(2, default_int_handler)
class Finder:
    found = 0
    def find_spec(self, *_):
        if "dunnage.cli.main" in sys.modules:
            Finder.found += 1
            if Finder.found == int(sys.argv[2]):
                os.kill(os.getpid(), 2)
sys.meta_path.insert(0, Finder())
sys.modules.pop("signal", None)
from dunnage.cli.main import main
try:
    main()
finally:
    print(Finder.found, file=sys.stderr)
"""


def test_ctrl_c_at_any_moment_of_loading_is_told_in_one_line() -> None:
    def ended(moment: int) -> tuple[int, str]:
        command = [sys.executable, "-c", STRUCK, "--version", str(moment)]
        found = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return found.returncode, found.stderr

    code, counted = ended(0)
    assert code == 0
    assert int(counted) > 100
    for moment in (1, 2, 3, 4, 5, *range(6, int(counted), int(counted) // 16)):
        code, told = ended(moment)
        assert (code, told.removesuffix(f"{moment}\n")) == (130, "dunnage: interrupted\n"), moment


def test_ctrl_c_while_the_command_loads_is_told_without_a_traceback() -> None:
    begun = (
        "import dunnage.cli.main, signal, os, sys; sys.argv = ['dunnage', 'plan', 'x.yaml']; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
    )
    struck = (
        "import builtins; old = builtins.__import__; "
        "builtins.__import__ = lambda name, *rest: "
        "(os.kill(os.getpid(), signal.SIGINT) if name == 'typer' else None, old(name, *rest))[1]; "
    )
    command = [sys.executable, "-c", f"{begun}{struck}dunnage.cli.main.main()"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (130, "dunnage: interrupted\n")


def test_ctrl_c_ends_it_though_standard_error_is_closed() -> None:
    code = "import os; os.close(2); from dunnage.cli.main import _end; _end()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert ended.returncode == 130


def test_each_command_of_a_test_hears_ctrl_c_as_a_process_of_its_own(dunnage: Command) -> None:
    before = signal.getsignal(signal.SIGINT)
    dunnage("--version")
    assert signal.getsignal(signal.SIGINT) is before


def test_who_is_deaf_to_ctrl_c_stays_so_while_loading() -> None:
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        "sys.argv = ['dunnage', '--version']; import dunnage.cli.main, atexit; "
        "atexit.register(lambda: print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)); "
        "dunnage.cli.main.main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout.splitlines()[-1] == "True"


def test_a_bug_shows_where_it_is(dunnage: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dunnage.lab_tool.clean", lambda **_: 1 // 0)
    shown = dunnage("clean")
    assert shown.code == 1
    assert "ZeroDivisionError" in shown.err
    assert "this is a bug in Dunnage" in shown.err


HOSTILE_STUDY = """\
dunnage: 1
name: "$(touch owned)"
testbed: {kind: fake, hosts: {db: 3, client: 1}}
database: {kind: "[bold]fake[/]", topology: single}
deployments:
  "; touch owned": {platform: fake}
  "\\e[2J": {platform: "\\e]0;owned\\a"}
  "../../owned": {platform: "[/]"}
workloads: [{name: "`touch owned`", core: A}]
load: {threads: [1], duration: 2s}
generator: fake
sampler: {kind: fake}
"""


def test_hostile_names_are_refused_before_anything_starts(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(HOSTILE_STUDY)
    for verb in ("plan", "run"):
        shown = dunnage(verb, "study.yaml")
        assert shown.code == 2
        assert "Traceback" not in shown.err
        assert "\x1b" not in shown.err
        for line in (2, 4, 6, 7, 8, 9):
            assert f"line {line}: " in shown.err
    assert [path.name for path in tmp_path.iterdir()] == ["study.yaml"]


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("studies/quikstart.yaml", "dunnage plan studies/quickstart.yaml"),
        ("quickstart", "dunnage plan studies/quickstart.yaml"),
        ("mine.yml", "dunnage plan mine.yaml"),
        ("other.yaml", "dunnage init other.yaml"),
        ("nowhere/other.yaml", "dunnage init"),
        ("studies", "dunnage init"),
        ("done", "dunnage report done"),
    ],
)
def test_where_no_study_is_the_next_command_is_the_nearest_one(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str, hint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("studies/quickstart.yaml", "studies/fake.yaml", "mine.yaml", "done/plan.json"):
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).touch()
    shown = dunnage("plan", asked)
    assert shown.code == 2
    assert shown.err.splitlines()[-1] == f"  try: {hint}"


def test_what_is_piped_into_a_command_is_no_study(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    for verb in ("plan", "run"):
        told = dunnage(verb, "-").err
        assert "dunnage: -: a study is read from a file, never from standard input\n" in told
        assert told.endswith("try: dunnage plan FILE\n")
        told = dunnage(verb, "pipe").err
        assert "this is a pipe and not a file" in told
        assert told.endswith("try: dunnage plan FILE\n")


def test_a_file_of_this_name_is_a_study(
    dunnage: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-").write_bytes(FAKE.read_bytes())
    assert dunnage("plan", "-").code == 0


def test_a_file_that_is_not_utf_8_is_told_with_the_line(dunnage: Command, tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(b"dunnage: 1\nname: caf\xe9\n")
    shown = dunnage("plan", path)
    assert shown.code == 2
    assert "line 2: this is not UTF-8 text: it holds the byte 0xe9" in shown.err
