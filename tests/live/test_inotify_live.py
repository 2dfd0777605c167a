"""A Kubernetes on a machine whose instances of inotify are used up: refused, with what to type."""

from __future__ import annotations

import ctypes
import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from standing_labs import said

from dunnage.errors import ExitCode

pytestmark = [pytest.mark.live, pytest.mark.quiet, pytest.mark.timeout(120)]

LEFT = 5
"""Fewer instances than one host with a Kubernetes needs."""


@contextmanager
def nearly_all_held() -> Iterator[None]:
    """Hold all instances that this user can have, but `LEFT`."""
    limit = int(Path("/proc/sys/fs/inotify/max_user_instances").read_text())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit + 1024, hard), hard))
    held: list[int] = []
    try:
        begin = ctypes.CDLL(None, use_errno=True).inotify_init1
        while len(held) <= limit and (instance := begin(os.O_CLOEXEC)) >= 0:
            held.append(instance)
        for instance in held[:LEFT]:
            os.close(instance)
        del held[:LEFT]
        yield
    finally:
        for instance in held:
            os.close(instance)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_it_is_refused_before_anything_starts_and_the_command_that_helps_is_told() -> None:
    before = said("status", "--format", "json").stdout
    with nearly_all_held():
        refused = said("up", "--kubernetes", "--hosts", "1")
    assert refused.returncode == ExitCode.UNAVAILABLE
    told = " ".join(refused.stderr.split())
    needed = re.search(r"(\d+) inotify instances are needed and this user can have 5 more", told)
    assert needed is not None, told
    limit = int(Path("/proc/sys/fs/inotify/max_user_instances").read_text())
    assert f"sysctl fs.inotify.max_user_instances={limit + int(needed[1])}" in told
    assert said("status", "--format", "json").stdout == before
