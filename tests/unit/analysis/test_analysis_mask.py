"""What two stays may differ in without having run anything else."""

from __future__ import annotations

from analysis_cases import stay

from dunnage.findings.parity.mask import Mask

MASK, _ = Mask.of_both(stay("native", 1), stay("native", 2))


def test_a_stays_own_name_in_a_path_is_none_of_a_directory_called_like_its_deployment() -> None:
    assert MASK.text("/scratch/b1-native/home") == "/scratch/<stay>/home"
    assert MASK.text("/tree/lib/native/lib.so") == "/tree/lib/native/lib.so"


def test_an_interface_stands_for_the_address_that_it_has() -> None:
    named = MASK.without_addresses('listen_interface: "eth0"')
    assert named == MASK.without_addresses('listen_address: "10.77.0.2"')
    assert named != MASK.without_addresses('rpc_address: "10.77.0.2"')
    assert named != MASK.without_addresses('listen_interface: "wlan0"')
