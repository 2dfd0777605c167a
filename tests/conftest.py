"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no defect of what is tested: examples may take their time.
settings.register_profile("dunnage", deadline=None)
settings.load_profile("dunnage")
