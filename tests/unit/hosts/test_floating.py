"""Floating addresses of a lab: which, and what its switch and its hosts are told."""

from __future__ import annotations

import ipaddress

from dunnage.hosts.namespace.floating import ROUTE, translating
from dunnage.hosts.namespace.network import Plug, join_script


def test_every_host_has_a_floating_address_outside_of_the_hosts_subnet() -> None:
    plugs = [Plug(number) for number in range(1, 129)]
    assert len({plug.floating for plug in plugs}) == len(plugs)
    _, _, subnet, _, switch, *_ = ROUTE.split()
    floating = ipaddress.ip_network(subnet)
    own = ipaddress.ip_network("10.77.0.0/24")
    assert not floating.overlaps(own)
    assert ipaddress.ip_address(switch) in own
    assert all(ipaddress.ip_address(plug.floating) in floating for plug in plugs)
    assert switch not in {plug.address for plug in plugs}


def test_the_switch_translates_there_and_back_one_to_one() -> None:
    script = translating([Plug(1), Plug(4)])
    for number in (1, 4):
        own, floating = f"10.77.0.{number}", f"10.77.1.{number}"
        assert f"-A PREROUTING -d {floating}/32 -j DNAT --to-destination {own}\n" in script
        back = f"-A POSTROUTING -s {own}/32 -o lab0 -m conntrack --ctstate DNAT "
        assert f"{back}-j SNAT --to-source {floating}\n" in script
    assert script.count(" -j ") == 4


def test_a_restored_host_keeps_its_floating_address() -> None:
    assert Plug(3).floating == Plug(3, generation=1).floating


def test_a_host_is_told_the_way_to_floating_addresses_once_its_interface_is_up() -> None:
    lines = join_script(Plug(3), None, [ROUTE]).splitlines()
    assert lines[lines.index("link set eth0 up") + 1] == ROUTE
    assert "10.77.1." not in join_script(Plug(3), None)
