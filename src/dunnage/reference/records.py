"""`records.md`: what a result directory holds."""

from __future__ import annotations

from dunnage.model import analysis, control, plan, process, record, remarks
from dunnage.model.value import Value
from dunnage.reference.fields import fields
from dunnage.reference.markdown import code, paragraph, table
from dunnage.store import layout

_HEAD = """
# Records

What `dunnage run` leaves behind, file by file. Every file carries a version and has a JSON Schema
in `schema/` (`dunnage schema record`). Times are Unix time in seconds, durations are in seconds,
sizes in bytes, shares are shares of one. `None` means that a value is not known; it never means 0.
"""


def records_page() -> str:
    files = (layout.__doc__ or "").split("\n\n", maxsplit=1)[1]
    parts = [_HEAD, "## Files\n\n" + files.strip() + "\n"]
    for title, *modules in (
        ("`plan.json`", plan),
        ("`stay.json` and `record.json`", record, process),
        ("`analysis.json`", analysis, remarks, control),
    ):
        parts.append(f"## {title}\n")
        parts += [
            _section(value)
            for module in modules
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, Value)
            and value.__module__ == module.__name__
        ]
    return "\n".join(parts)


def _section(kind: type[Value]) -> str:
    rows = [(code(field.name), code(field.kind), field.meaning) for field in fields(kind)]
    return f"### {kind.__name__}\n\n{paragraph(kind.__doc__)}\n\n" + table(
        ("field", "type", "meaning"), rows
    )
