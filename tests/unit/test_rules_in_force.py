"""How many rules for packets are in force, of what two tools print."""

from __future__ import annotations

import json
from unittest.mock import Mock

from dunnage.contracts.host import Completed, Host
from dunnage.errors import RunError
from dunnage.runner.rules import rules_on
from dunnage.substrates.rules import counted, rules_in_force

LISTS = """\
*nat
:PREROUTING ACCEPT [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE
COMMIT
*filter
-A FORWARD -j DOCKER-USER
COMMIT
"""


def rule(family: str, table: str) -> dict[str, object]:
    return {"rule": {"family": family, "table": table, "chain": "any", "expr": []}}


MAPS = json.dumps(
    {
        "nftables": [
            {"metainfo": {}},
            rule("ip", "nat"),  # iptables told it already
            rule("ip", "kube-proxy"),
            rule("inet", "ours"),
            rule("ip6", "kube-proxy"),
        ]
    }
)


def host(*answers: Completed | Exception) -> Mock:
    made = Mock(spec=Host, run=Mock(side_effect=answers))
    made.name = "db-1"
    return made


def test_each_rule_counts_once_whichever_tool_tells_it() -> None:
    assert counted(LISTS, "") == 3
    assert counted(LISTS, MAPS) == 5
    assert counted("", "") == 0


def test_tools_run_under_the_variables_of_what_made_the_rules() -> None:
    asked = host(Completed(0, LISTS, ""), Completed(127, "", "not found"))
    assert rules_in_force(asked, {"PATH": "/there"}) == 3
    assert asked.run.call_args_list[0].args[0] == ["env", "PATH=/there", "iptables-save"]


def test_a_host_whose_tools_fail_does_not_know_of_none() -> None:
    failing = host(Completed(1, "", "no kernel support"), Completed(0, MAPS, ""))
    assert rules_in_force(failing, {}) is None


def test_the_substrate_that_sees_most_rules_of_a_host_tells_them() -> None:
    few, many = Mock(rules=Mock(return_value=3)), Mock(rules=Mock(return_value=40))
    blind, silent = Mock(rules=Mock(return_value=None)), Mock(spec=["wake"])
    assert rules_on([host()], [few, silent, many, blind]) == {"db-1": 40}
    assert rules_on([host()], [silent, blind]) == {}
    lost = Mock(rules=Mock(side_effect=RunError("it did not end", where="db-1")))
    assert rules_on([host()], [lost]) == {}
