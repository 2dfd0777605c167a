"""What is said of this machine to one who is not root."""

from __future__ import annotations

import os

import pytest

from dunnage.hosts.supports import supports


def test_without_root_nothing_is_tried_and_the_way_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    found = supports()
    assert not any(support.met for support in found.values())
    assert {support.hint for support in found.values()} == {"sudo -s"}
