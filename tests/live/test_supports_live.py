"""What this machine is found to support, without a lab being made."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dunnage.hosts.namespace import ipvs
from dunnage.hosts.namespace.supports import CGROUPS, NAMESPACES, ROOT, sharing, supports
from dunnage.model.offer import IP_SETS, IPVS, Capability

NEEDED = (ROOT, NAMESPACES, CGROUPS)


@pytest.mark.live
def test_what_a_lab_needs_is_there_and_nothing_is_left_of_trying() -> None:
    def probes() -> list[Path]:
        return list(Path("/sys/fs/cgroup").glob(f"**/dunnage-probe-{os.getpid()}"))

    found = supports()
    assert all(found[one].met for one in NEEDED), found
    assert probes() == []


@pytest.mark.live
def test_what_is_missing_comes_with_a_reason_and_a_command() -> None:
    for capability, support in supports().items():
        assert support.met or (support.reason and support.hint), capability


@pytest.mark.live
def test_an_interface_that_shares_another_one_is_tried_and_one_of_no_kind_is_told() -> None:
    found = sharing("macvlan")
    assert found.met or (found.reason and found.hint)
    refused = sharing("nothing-of-this-kind")
    assert not refused.met
    assert refused.reason.startswith("nothing-of-this-kind interfaces cannot be created here: ")
    assert refused.hint


@pytest.mark.live
@pytest.mark.parametrize(("capability", "asked"), [(IPVS, ipvs.SERVICE), (IP_SETS, ipvs.SETS)])
def test_what_ipvs_needs_is_really_made_in_a_namespace_that_vanishes(
    capability: Capability, asked: str
) -> None:
    once = shlex.join((sys.executable, "-I", "-S", str(ipvs.__file__), asked))
    twice = subprocess.run(
        ["unshare", "--net", "sh", "-c", f"{once} && {once}"],
        capture_output=True,
        text=True,
        check=False,
    )
    answer = twice.stderr.splitlines()[-1]
    assert answer.startswith(("FileExistsError: ", "FileNotFoundError: ", "OSError: ")), answer
    assert supports()[capability].met is answer.startswith("FileExistsError: ")
