"""What is said of this machine to one who is not root."""

from __future__ import annotations

import os
import shutil

import pytest

from dunnage import catalog
from dunnage.hosts.namespace.supports import ROOT, supports


@pytest.mark.parametrize(("tool", "way"), [("/usr/bin/sudo", "sudo -s"), (None, "su -")])
def test_without_root_nothing_is_tried_and_the_way_is_shown(
    monkeypatch: pytest.MonkeyPatch, tool: str | None, way: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda _: tool)
    found = supports()
    assert not any(support.met for support in found.values())
    assert {support.hint for support in found.values()} == {way}


def test_without_root_only_that_is_missing_and_it_is_said_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    found = supports()
    (root,) = catalog.missing(found, tuple(found))
    assert root == found[ROOT]
