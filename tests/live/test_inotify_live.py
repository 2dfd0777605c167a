"""A Kubernetes on a machine whose instances of inotify are used up: refused, with what to type."""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lab_traces import clean_away
from standing_labs import said

from dunnage.errors import ExitCode
from dunnage.substrates.kubernetes.kernel import INOTIFY

pytestmark = [pytest.mark.live, pytest.mark.quiet, pytest.mark.timeout(120)]

LEFT = 5
"""Instances that are left. Others may open or close some meanwhile; a Kubernetes on three hosts
needs far more."""
HOSTS = 3
"""One for a member, one for the client and one for the control plane."""


@contextmanager
def nearly_all_held() -> Iterator[None]:
    """Hold all instances that this user can have, but `LEFT`; skipped where this process may not
    open as many files."""
    limit, further = limit_of_instances(), 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < limit + further:
        pytest.skip(f"a process may open {hard} files, and a user have {limit} instances")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit + further), hard))
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


def limit_of_instances() -> int:
    """Instances that a user can have."""
    return int(Path("/proc/sys/fs/inotify/max_user_instances").read_text())


def test_it_is_refused_before_anything_starts_and_the_command_that_helps_is_told() -> None:
    before = said("status", "--format", "json").stdout
    with nearly_all_held():
        answer = said("up", "--kubernetes", "--hosts", "1", "--format", "json")
    try:
        assert answer.returncode == ExitCode.UNAVAILABLE, answer.stderr
        told = " ".join(answer.stderr.split())
        needed = HOSTS * INOTIFY
        words = rf"{needed} inotify instances are needed and this user can have (\d+) more"
        room = re.search(words, told)
        assert room is not None, told
        assert int(room[1]) < needed
        assert f"sysctl fs.inotify.max_user_instances={limit_of_instances() + needed}" in told
        assert f"{HOSTS} hosts" not in told
        assert said("status", "--format", "json").stdout == before
    finally:
        if answer.returncode == ExitCode.OK:
            clean_away(json.loads(answer.stdout)["lab"])
