"""What holds for every test."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

# A busy machine is no defect of what is tested: examples may take their time.
settings.register_profile("dunnage", deadline=None)
settings.load_profile("dunnage")

# As in a shell in which `.venv/bin/activate` was typed: `dunnage` is found.
os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
