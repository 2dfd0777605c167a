"""`python -m gate.proofs whole [COMMIT]`: which proofs lack a first or second pass since a commit.

Where none is named, it is the last that changed more than documents.
"""

from __future__ import annotations

import sys

from gate.proofs import commits
from gate.proofs.page import PageError
from gate.proofs.passes import whole

if __name__ == "__main__":
    verb, *since = sys.argv[1:] or [""]
    if verb != "whole" or len(since) > 1:
        sys.exit("usage: python -m gate.proofs whole [COMMIT]")
    try:
        sys.exit(whole(*(since or [commits.newest()])))
    except PageError as error:
        print(f"dunnage: {error}")
        sys.exit(2)
