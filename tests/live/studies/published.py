"""What published studies found where a shipped study asks the same, to stand beside what was seen.

Truyen, Bruzek, Van Landuyt, Lagaisse, Joosen: "Evaluation of container orchestration systems for
deploying and managing NoSQL database clusters", IEEE CLOUD 2018. Its figures are means of the 95th
percentiles of 15 levels of load. Workload A stands for what it calls update-heavy, C for
read-heavy. The differences come of the means in its tables of rankings for RQ1 and RQ2, and of its
text. Those of RQ1 that are here compare `SwarmFloatingIPHostPort` and `K8FloatingIPHostPort` with
`VM_FloatingIPHostPort`, and `DockerOnlyHostNameHostPort` with `VM_HostNameHostPort`.

Truyen, Van Landuyt, Lagaisse, Joosen: "Performance overhead of container orchestration frameworks
for management of multi-tenant database deployments", ACM SAC 2019. It has curves and no table of
numbers: only signs and ranks can stand beside ours.

No test fails by any of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from study_told import Cell, Publication

_NONE = "none that recurs"
_Told = Mapping[Cell, str]
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


def _truyen_2018(told: _Told) -> Publication:
    """The study of 2018, whose baselines differ by 1 to 8 % though only the name by which they are
    reached differs: from 3.7 to 4.0 ms, 16.5 to 16.7 ms and 15.9 to 16.8 ms."""
    return Publication(
        name="the study of 2018",
        told=told,
        alike=8,
        differs="its database is MongoDB 3.2.4, its hosts are virtual machines, its Swarm and "
        "Kubernetes are reached by floating addresses, which a cloud translates, and its "
        "Kubernetes has the network Weave Net; here it is Redis on hosts that share a machine, "
        "reached by addresses of these hosts, and flannel. Its figures are means of 95th "
        "percentiles over 15 levels of load, without intervals, and this is one level. So sizes "
        "are not comparable",
    )


def _truyen_2019(told: _Told) -> Publication:
    """The study of 2019. Its response latencies are told here as throughput, which in a closed loop
    falls as they rise."""
    return Publication(
        name="the study of 2019",
        told=told,
        alike=0,
        differs="its database is Cassandra 2.0.17 with 2 copies, all writes, acknowledged by one "
        "member; its hosts are virtual machines, and its Kubernetes has the network Weave Net and "
        "is reached by a name of the cluster; here it is Cassandra 5.0 with 3 copies, half reads, "
        "and flannel, reached by ports of the hosts. It has curves and no numbers. So sizes are "
        "not comparable",
    )


PUBLISHED: Mapping[str, Publication] = {
    "swarm": _truyen_2018(_SWARM),
    "kubernetes": _truyen_2018(
        {
            **_KUBERNETES,
            ("RQ2-reads", "node-port", "A"): "+2%",
            ("RQ2-reads", "node-port", "C"): "-4%",
        }
    ),
    "orchestrators": _truyen_2018(
        {
            **_SWARM,
            **{
                (asked, f"kubernetes-{way}", on): told
                for (asked, way, on), told in _KUBERNETES.items()
            },
            ("RQ1-reads", "docker-host", "A"): "+16%, which is told as none",
            ("RQ1-reads", "docker-host", "C"): _NONE,
            ("RQ1-updates", "docker-host", "A"): "+13%",
            ("RQ2-updates", "kubernetes-service-ip", "A"): "+1%",
            ("RQ2-updates-inside", "kubernetes-container-dns", "A"): "+5%",
        }
    ),
    "cassandra-docker": _truyen_2019({("throughput", "docker-host", "A"): "none, it is on par"}),
    "orchestrators-cassandra": _truyen_2019({("RQ1", "kubernetes-host-port", "A"): "less"}),
}
"""Study → what was published: question, deployment, workload → the difference in 95th percentiles,
or where there are no numbers whether the metric is less or more."""
