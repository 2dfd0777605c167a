"""Every page of the reference by its file's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dunnage.reference.commands import commands_page
from dunnage.reference.metrics import metrics_page
from dunnage.reference.records import records_page
from dunnage.reference.study import study_page

_PAGES: Mapping[str, Callable[[], str]] = {
    "study.md": study_page,
    "commands.md": commands_page,
    "metrics.md": metrics_page,
    "records.md": records_page,
}
_NOTE = "<!-- Made from the code: `make schema` writes this page. -->\n\n"


def pages() -> dict[str, str]:
    """Return all pages as Markdown."""
    return {name: _NOTE + page().strip() + "\n" for name, page in _PAGES.items()}
