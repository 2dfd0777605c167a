"""How a kernel that lacks something can be given it: what cannot help is not advised."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dunnage import kernel_modules
from dunnage.kernel_modules import how_to_load

KNOWN = """\
kernel/net/netfilter/ipvs/ip_vs.ko.xz: kernel/net/netfilter/nf_conntrack.ko.xz
kernel/net/netfilter/nf-nat.ko:
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`modules.dep` of this kernel, which loads modules; not there yet."""
    monkeypatch.setattr(kernel_modules, "_LOADED", tmp_path)
    monkeypatch.setattr(kernel_modules, "_INSTALLED", tmp_path)
    (tmp_path / os.uname().release).mkdir()
    return tmp_path / os.uname().release / "modules.dep"


def test_modules_that_are_there_are_loaded(installed: Path) -> None:
    installed.write_text(KNOWN)
    assert how_to_load("ip_vs") == "modprobe ip_vs"
    assert how_to_load("ip_vs", "nf_nat") == "modprobe -a ip_vs nf_nat"


def test_a_module_that_is_not_there_is_not_loaded(installed: Path) -> None:
    installed.write_text(KNOWN)
    assert how_to_load("vxlan") == (
        "use a machine whose kernel has `vxlan`: this one has no such module"
    )
    assert how_to_load("ip_vs", "nf_conntrack") == (  # which only another one needs
        "use a machine whose kernel has `nf_conntrack`: this one has no such module"
    )


def test_a_module_that_the_kernel_has_built_in_needs_no_loading(installed: Path) -> None:
    installed.write_text(KNOWN)
    (installed.parent / "modules.builtin").write_text("kernel/net/netfilter/nf_conntrack.ko\n")
    assert how_to_load("ip_vs", "nf_conntrack", "nf_nat") == "modprobe -a ip_vs nf_nat"
    assert how_to_load("ip_vs", "nf_conntrack") == "modprobe ip_vs"
    assert how_to_load("nf_conntrack", "vxlan") == (
        "use a machine whose kernel has `vxlan`: this one has no such module"
    )
    assert how_to_load("nf_conntrack") == (
        "use another machine: this one's kernel has `nf_conntrack` built in"
    )


def test_a_container_that_does_not_see_the_modules_leaves_it_to_the_machine(
    installed: Path,
) -> None:
    assert how_to_load("ip_vs").startswith("modprobe ip_vs  # on the machine itself")


def test_a_kernel_that_loads_no_modules_is_told(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed.write_text(KNOWN)
    monkeypatch.setattr(kernel_modules, "_LOADED", installed.parent / "nowhere")
    assert how_to_load("ip_vs") == (
        "use a machine whose kernel has `ip_vs`: this one loads no modules"
    )
