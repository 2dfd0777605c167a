"""`python -m dunnage.reference`: write the reference anew, or tell what is stale."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from dunnage.reference.pages import pages


def main() -> int:
    """Write or check a directory; 4 when it is not what the code says."""
    parser = ArgumentParser(prog="python -m dunnage.reference", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, help="Write all pages into this directory.")
    what.add_argument("--check", type=Path, help="Exit 4 if the pages in it are out of date.")
    words = parser.parse_args()
    fresh = pages()
    if words.write is not None:
        words.write.mkdir(parents=True, exist_ok=True)
        for name, text in fresh.items():
            (words.write / name).write_text(text, encoding="utf-8")
        return 0
    there = {path.name: path.read_text(encoding="utf-8") for path in words.check.glob("*.md")}
    stale = [name for name in fresh if fresh[name] != there.get(name)]
    if stale:
        sys.stderr.write(f"out of date: {', '.join(stale)}; try: make schema\n")
        return 4
    return 0


sys.exit(main())
