"""Network paths drawn in the terminal: a line for each hop, from the client down to the member."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from dunnage.findings.paths import sentences
from dunnage.findings.paths.recorded import Way
from dunnage.model.path import NetworkPath
from dunnage.wording import terms


def drawing(path: NetworkPath) -> RenderableType:
    """One path with its heading, and why it ends early if it does."""
    way = Way(path, (path.member,))
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for number, hop in enumerate(path.hops):
        arrow = "  " if number == 0 else "↓ "
        cells = (hop.host or "-", hop.name, hop.detail)
        table.add_row(
            Text(f"{arrow}{hop.kind.value}"), *(Text(terms.plain(each)) for each in cells)
        )
    parts: list[RenderableType] = [Text(sentences.leads(way), style="bold"), table]
    if broken := sentences.broken(way):
        parts.append(Text(broken, style="yellow"))
    return Group(*parts)
