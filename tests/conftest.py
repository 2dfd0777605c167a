"""What holds for every test."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A busy machine is no defect of what is tested: examples may take their time.
settings.register_profile("dunnage", deadline=None)
settings.load_profile("dunnage")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--whole",
        action="store_true",
        help="carry out the shipped studies as they are: two quickstarts, full length (30 minutes)",
    )
