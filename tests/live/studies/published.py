"""What a published study found where a shipped study asks the same, to stand beside what was seen.

Truyen, Bruzek, Van Landuyt, Lagaisse, Joosen: "Evaluation of container orchestration systems for
deploying and managing NoSQL database clusters", IEEE CLOUD 2018. Its database is MongoDB 3.2.4,
its hosts are virtual machines, and its numbers are means of the 95th percentiles of 15 levels of
load, without intervals, and ours are of one level. So signs and ranks are told beside ours, and
sizes are not compared; no test fails by any of them. Workload A stands for what it calls
update-heavy, C for read-heavy. The differences come of the means in its tables of rankings for RQ1
and RQ2, and of its text.
"""

from __future__ import annotations

from collections.abc import Mapping

_NONE = "none that recurs"
_Told = Mapping[tuple[str, str, str], str]
_SWARM: _Told = {
    ("RQ1-reads", "swarm-host-port", "A"): "+20%",
    ("RQ1-reads", "swarm-host-port", "C"): _NONE,
    ("RQ1-updates", "swarm-host-port", "A"): "+22%",
}
_KUBERNETES: _Told = {
    ("RQ1-reads", "host-port", "A"): "+37%",
    ("RQ1-reads", "host-port", "C"): _NONE,
    ("RQ1-updates", "host-port", "A"): "+28%",
    ("RQ2-reads", "service-ip", "A"): "0%",
    ("RQ2-reads", "service-ip", "C"): "-18%",
    ("RQ2-reads-inside", "container-dns", "A"): "+4%",
    ("RQ2-reads-inside", "container-dns", "C"): "-13%",
}
PUBLISHED: Mapping[str, _Told] = {
    "swarm": _SWARM,
    "kubernetes": {
        **_KUBERNETES,
        ("RQ2-reads", "node-port", "A"): "+2%",
        ("RQ2-reads", "node-port", "C"): "-4%",
    },
    "orchestrators": {
        **_SWARM,
        **{
            (asked, f"kubernetes-{way}", on): told for (asked, way, on), told in _KUBERNETES.items()
        },
        ("RQ1-reads", "docker-host", "A"): "+16%, which is told as none",
        ("RQ1-reads", "docker-host", "C"): _NONE,
        ("RQ1-updates", "docker-host", "A"): "+13%",
        ("RQ2-updates", "kubernetes-service-ip", "A"): "+1%",
        ("RQ2-updates-inside", "kubernetes-container-dns", "A"): "+5%",
    },
}
"""Study → question, deployment, workload → the difference in 95th percentiles."""
