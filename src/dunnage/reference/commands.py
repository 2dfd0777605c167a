"""`commands.md`: every verb with its arguments and options."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any

import typer

from dunnage.cli.command_line import command_line
from dunnage.errors import ExitCode
from dunnage.reference.fields import fields
from dunnage.reference.markdown import code, table

_HEAD = """
# Commands

Data goes to standard output, everything else to standard error. `--format json` gives one JSON
document where a program might read the answer. `NO_COLOR` is respected.
"""


def commands_page() -> str:
    group = typer.main.get_command(command_line())
    verbs = getattr(group, "commands", {})
    shown = [part for name, verb in verbs.items() if not verb.hidden for part in _verbs(name, verb)]
    return "\n".join((_HEAD, *shown, *_exit_codes()))


def _verbs(name: str, verb: Any) -> Iterator[str]:
    """A verb; or those of a group, each by its whole name."""
    within = getattr(verb, "commands", {})
    if not within:
        yield _verb(name, verb)
    for each, own in within.items():
        yield from _verbs(f"{name} {each}", own)


def _verb(name: str, verb: Any) -> str:
    arguments = [parameter for parameter in verb.params if parameter.param_type_name == "argument"]
    usage = " ".join(["dunnage", name, "[OPTIONS]", *map(_slot, arguments)])
    rows = [
        (code(_names(parameter)), _default(parameter), getattr(parameter, "help", "") or "")
        for parameter in verb.params
        if parameter.name != "help"
    ]
    parts = [f"## `dunnage {name}`\n", f"{verb.help}\n", f"    {usage}\n"]
    if rows:
        parts.append(table(("argument or option", "default", "what it does"), rows))
    parts.append(_examples(verb.epilog or ""))
    return "\n".join(parts)


def _slot(argument: Any) -> str:
    word = _names(argument)
    return word if argument.required else f"[{word}]"


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).upper().rstrip("_")
    flag = getattr(parameter, "is_flag", False)
    value = "" if flag else f" {_value(parameter)}"
    return ", ".join(parameter.opts) + value


def _value(option: Any) -> str:
    kind = option.type_descriptor.annotation
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(each.value) for each in kind)
    return str(option.metavar or option.name).upper().rstrip("_")


def _default(parameter: Any) -> str:
    shown = getattr(parameter, "show_default", None)
    default = shown if isinstance(shown, str) else parameter.default
    if default in (None, False, ()):
        return ""
    return code(default.value if isinstance(default, Enum) else default)


def _examples(epilog: str) -> str:
    """The line of examples that a verb's help ends with, a line each."""
    examples = epilog.removeprefix("Examples:").split("·")
    return "```console\n" + "".join(f"$ {each.strip()}\n" for each in examples) + "```\n"


def _exit_codes() -> Iterator[str]:
    yield "## Exit codes\n"
    rows = ((code(member.default), member.meaning) for member in fields(ExitCode))
    yield table(("code", "meaning"), rows)
