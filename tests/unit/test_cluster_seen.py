"""What someone else's cluster tells, and why one cannot be asked."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from lightkube.codecs import from_dict
from stand_in_cluster import REVIEWS, WHOAMI, Answer, Cluster, cluster_of, node, secured_cluster

from dunnage import catalog
from dunnage.clusters.context import Context
from dunnage.clusters.rights import ALL, OF_EVERY_STUDY, OF_VOLUMES, Right, needed
from dunnage.contracts.cluster import ClusterSeen
from dunnage.contracts.kubernetes import ApiServer
from dunnage.errors import UnavailableError
from dunnage.hosts import machines as own
from dunnage.hosts.first_process import Identity
from dunnage.hosts.standing import StandingHost, StandingLab
from dunnage.kubernetes_api import certificate_ends
from dunnage.model.choices import Storage
from dunnage.substrates.cluster_seen import granting, joined_by, look, mode_in
from dunnage.substrates.kubernetes import certificates
from dunnage.substrates.kubernetes.certificates import Authority, Credentials

PROXY = "/api/v1/namespaces/kube-system/configmaps/kube-proxy"
NODES = (node("n1", "here", address="10.0.0.1"), node("n2", "elsewhere"))
FORBIDDEN: Answer = (403, {"kind": "Status", "code": 403, "message": "nodes is forbidden"})
ME = {"status": {"userInfo": {"username": "me", "groups": ["staff", "system:authenticated"]}}}


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    return tmp_path / "kubeconfig"


@pytest.fixture
def cluster(kubeconfig: Path) -> Iterator[Cluster]:
    with cluster_of(*NODES, kubeconfig=kubeconfig) as played:
        played.answers[WHOAMI] = (201, ME)
        configuration = {"data": {"config.conf": "mode: ipvs\n"}}
        played.answers[PROXY] = (200, {"metadata": {}, **configuration})
        yield played


def seen(kubeconfig: Path) -> ClusterSeen:
    return look("mine", kubeconfig, {("here", "boot"): "this machine"})


def test_a_cluster_tells_who_one_is_what_one_may_and_which_nodes_are_ours(
    cluster: Cluster, kubeconfig: Path
) -> None:
    told = seen(kubeconfig)
    assert (told.context, told.version) == ("mine", "v1.34.2")
    assert told.server == f"http://127.0.0.1:{cluster.server_port}"
    assert (told.user, told.groups) == ("me", ("staff", "system:authenticated"))
    assert [each.right for each in told.rights] == list(map(str, ALL))
    assert {each.right for each in told.rights if each.purpose == "`storage: volume`"} == set(
        map(str, OF_VOLUMES)
    )
    explains = "telling why a pod does not start"
    assert {each.purpose for each in told.rights} == {"every study", "`storage: volume`", explains}
    assert [each.right for each in told.rights if each.purpose == explains] == ["list events"]
    assert all(each.held and not each.how for each in told.rights)
    assert [(each.name, each.host, each.unready) for each in told.nodes] == [
        ("n1", "this machine", ""),
        ("n2", "", ""),
    ]
    assert told.nodes[0].told == {
        "kubelet": "v1",
        "runtime": "c://2",
        "kernel": "6.1",
        "address": "10.0.0.1",
    }
    assert (told.network, told.proxy) == ("unknown: no node tells of it", "ipvs")


def only_reading(asked: Any) -> Answer:
    wanted = asked["spec"]["resourceAttributes"]
    return 201, {"spec": {}, "status": {"allowed": wanted["verb"] in ("get", "list")}}


def test_each_missing_right_has_commands_that_give_it(cluster: Cluster, kubeconfig: Path) -> None:
    cluster.answers[REVIEWS] = only_reading
    told = seen(kubeconfig)
    missing = {each.right: each.how for each in told.rights if not each.held}
    assert set(missing) == {str(each) for each in ALL if each.verb not in ("get", "list")}
    role, binding = missing["create pods/exec"].split(" && ")
    kept = "--dry-run=client --output=yaml | kubectl --context mine apply -f -"
    assert role == (
        "kubectl --context mine create clusterrole dunnage-create-pods-exec --verb=create "
        f"--resource=pods/exec {kept}"
    )
    assert re.fullmatch(
        r"kubectl --context mine create clusterrolebinding dunnage-create-pods-exec-[0-9a-f]{8} "
        rf"--clusterrole=dunnage-create-pods-exec --user=me {re.escape(kept)}",
        binding,
    )
    assert "--resource=statefulsets.apps" in missing["delete statefulsets.apps"]


def test_volumes_are_asked_for_by_studies_that_have_some_and_by_no_others() -> None:
    assert needed({Storage.BIND, Storage.TMPFS}) == needed(()) == OF_EVERY_STUDY
    assert needed({Storage.BIND, Storage.VOLUME}) == (*OF_EVERY_STUDY, *OF_VOLUMES)
    assert not [right for right in OF_EVERY_STUDY if right.resource.startswith("persistent")]


def test_events_only_explain_so_no_study_is_refused_for_want_of_them() -> None:
    assert set(ALL) - set(needed({Storage.VOLUME})) == {Right("list", "events")}


def test_a_right_is_told_as_kubectl_asks_for_it() -> None:
    assert str(Right("create", "pods", "exec")) == "create pods/exec"
    assert str(Right("delete", "statefulsets", group="apps")) == "delete statefulsets.apps"


def test_commands_run_by_a_right_of_their_own() -> None:
    assert {"get pods/exec", "create pods/exec"} <= set(map(str, OF_EVERY_STUDY))


def test_each_user_is_bound_by_a_name_of_their_own() -> None:
    right = Right("get", "pods")
    one, other = (granting(right, user, "mine") for user in ("one", "other"))
    assert one != other.replace("other", "one")
    assert one.split(" && ")[0] == other.split(" && ")[0]


def test_a_users_name_is_typed_as_one_word() -> None:
    told = granting(Right("get", "pods"), "of a; rm", "at; work")
    assert "'--user=of a; rm'" in told
    assert told.count("kubectl --context 'at; work' ") == 4


def test_what_may_not_be_read_is_unknown_with_the_reason(
    cluster: Cluster, kubeconfig: Path
) -> None:
    cluster.answers |= {"/api/v1/nodes": FORBIDDEN, PROXY: FORBIDDEN, WHOAMI: FORBIDDEN}
    cluster.answers[REVIEWS] = (201, {"spec": {}, "status": {"allowed": False}})
    told = seen(kubeconfig)
    assert told.nodes == ()
    assert "nodes is forbidden" in told.nodes_unread
    assert told.proxy.startswith("unknown: ")
    assert (told.user, told.groups) == ("", ())
    assert " --user=USER " in told.rights[0].how
    cluster.answers[WHOAMI] = (201, {})
    assert seen(kubeconfig).user == ""


def test_a_node_that_tells_nothing_is_no_host(cluster: Cluster, kubeconfig: Path) -> None:
    silent = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3"}}
    no_info = {**silent, "status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    cluster.answers["/api/v1/nodes"] = (200, {"items": [silent, no_info]})
    assert [(each.host, each.unready, each.told) for each in seen(kubeconfig).nodes] == [
        ("", "not told of by its kubelet", {}),
        ("", "Ready is False", {}),
    ]


def annotated(**written: str) -> Any:
    metadata = {"name": "n", "annotations": written}
    return from_dict({"apiVersion": "v1", "kind": "Node", "metadata": metadata})


def test_the_network_is_what_plugins_write_to_their_nodes() -> None:
    vxlan = annotated(**{"flannel.alpha.coreos.com/backend-type": "vxlan"})
    calico = annotated(**{"projectcalico.org/IPv4Address": "10.0.0.1/24"})
    tunnel = annotated(
        **{
            "projectcalico.org/IPv4Address": "10.0.0.1/24",
            "projectcalico.org/IPv4IPIPTunnelAddr": "10.1.0.1",
        }
    )
    assert joined_by([vxlan, vxlan]) == "flannel, vxlan (perhaps not between all nodes)"
    assert joined_by([calico]) == "Calico, no encapsulation"
    assert joined_by([tunnel]) == "Calico, ipip (perhaps not between all nodes)"
    assert joined_by([calico, annotated()]) == "Calico, no encapsulation; some nodes tell nothing"
    assert joined_by([]) == joined_by([annotated()]) == "unknown: no node tells of it"


@pytest.mark.parametrize(
    ("configuration", "mode"),
    [("mode: nftables\n", "nftables"), ('mode: ""\n', "iptables"), ("kind: X\n", "iptables")],
)
def test_a_proxys_mode_is_the_one_of_its_configuration(configuration: str, mode: str) -> None:
    assert mode_in(configuration) == mode


@pytest.mark.parametrize("configuration", ["", "[", "text"])
def test_a_configuration_that_is_none_tells_no_mode(configuration: str) -> None:
    assert mode_in(configuration).startswith("unknown: `kube-proxy` of `kube-system` has no")


# Why a cluster cannot be asked.


def refused(context: str, kubeconfig: Path | None) -> tuple[str, str]:
    with pytest.raises(UnavailableError) as raised:
        look(context, kubeconfig, {})
    return str(raised.value), raised.value.hint


def test_a_cluster_that_does_not_answer_is_told(cluster: Cluster, kubeconfig: Path) -> None:
    cluster.shutdown()
    cluster.server_close()
    told, hint = refused("mine", kubeconfig)
    assert told.startswith("kubernetes: the cluster of context `mine` does not answer: ")
    assert hint == f"kubectl --kubeconfig {kubeconfig} --context mine cluster-info"


def test_a_context_that_is_not_there_and_a_broken_file_are_told(
    cluster: Cluster, kubeconfig: Path
) -> None:
    told, hint = refused("yours", kubeconfig)
    assert told.endswith(f"`{kubeconfig}` has no context `yours`")
    assert hint == f"kubectl --kubeconfig {kubeconfig} config get-contexts"
    kubeconfig.write_text("clusters: [")
    assert f"`{kubeconfig}` is not YAML: see its line 1" in refused("mine", kubeconfig)[0]
    kubeconfig.unlink()
    assert f"`{kubeconfig}` cannot be read: No such file" in refused("mine", kubeconfig)[0]


def test_without_a_word_the_kubeconfig_is_the_one_that_kubectl_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    told, _ = refused("mine", None)
    assert "the kubeconfig of context `mine` cannot be used" in told
    assert ".kube/config` cannot be read: No such file" in told
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube/config").write_text("clusters: []\ncontexts: []\n")
    told, hint = refused("mine", None)
    assert "has no context `mine`" in told
    assert hint == "kubectl config get-contexts"


def test_of_a_list_of_kubeconfigs_nothing_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/a:/b")
    told, hint = refused("mine", None)
    assert "`KUBECONFIG` names several files: `/a`, `/b`" in told
    assert hint.startswith("(umask 077; kubectl config view --flatten > one)")
    monkeypatch.setenv("KUBECONFIG", ":/a:")
    assert "`/a` cannot be read" in refused("mine", None)[0]


def test_what_this_machine_lacks_is_not_said_to_be_the_kubeconfigs(kubeconfig: Path) -> None:
    with pytest.raises(OSError, match="Too many open files"), Context("mine", kubeconfig).spoken():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_what_is_typed_about_a_cluster_is_of_its_context_whatever_that_is_called() -> None:
    mine = Context("my cluster")
    assert mine.ours("doctor") == "dunnage doctor --context 'my cluster'"
    assert mine.asking("get nodes") == "kubectl --context 'my cluster' get nodes"
    own = Context("mine", Path("k"))
    assert own.ours("clean") == "dunnage clean --context mine --kubeconfig k"


def test_a_cluster_that_knows_nobody_is_told(cluster: Cluster, kubeconfig: Path) -> None:
    cluster.answers[WHOAMI] = (401, {"kind": "Status", "code": 401, "message": "Unauthorized"})
    told, hint = refused("mine", kubeconfig)
    assert told == "kubernetes: the cluster of context `mine` refuses: Unauthorized"
    assert hint.endswith("--context mine auth whoami")


def test_what_a_cluster_said_is_told_though_its_kubeconfig_is_gone_meanwhile(
    cluster: Cluster, kubeconfig: Path
) -> None:
    """When its user's certificate ends could be read there."""

    def gone(_: Any) -> Answer:
        kubeconfig.unlink()
        return 401, {"kind": "Status", "code": 401, "message": "Unauthorized"}

    cluster.answers[WHOAMI] = gone
    told, _ = refused("mine", kubeconfig)
    assert told == "kubernetes: the cluster of context `mine` refuses: Unauthorized"


def issued(authority: Authority) -> tuple[Credentials, Credentials]:
    return authority.server("api", ("127.0.0.1",)), authority.client("me")


def test_a_certificate_that_is_over_is_told_whose_ever_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority("theirs")
    server, user = issued(authority)
    with monkeypatch.context() as past:
        past.setattr(certificates, "_LASTS", -timedelta(minutes=1))
        server_before, user_before = issued(authority)
    with secured_cluster(authority.certificate, server_before, user, tmp_path) as file:
        told, hint = refused("dunnage", file)
    assert told == (
        "kubernetes: the certificate of the cluster of context `dunnage` is not valid: "
        "certificate has expired"
    )
    assert hint.endswith("--context dunnage cluster-info")
    with secured_cluster(authority.certificate, server, user_before, tmp_path) as file:
        told, _ = refused("dunnage", file)
        ends = certificate_ends(ApiServer(file))
        assert ends is not None
        assert told == (
            "kubernetes: the cluster of context `dunnage` refuses: Unauthorized; the certificate "
            f"of its user was valid until {ends:%Y-%m-%d %H:%M} UTC"
        )
    with secured_cluster(authority.certificate, server, user, tmp_path) as file:
        assert "valid until" not in refused("dunnage", file)[0]


def test_a_certificate_in_a_file_is_read_there(tmp_path: Path) -> None:
    me = Authority("theirs").client("me")
    (tmp_path / "me.pem").write_bytes(me.certificate)
    (tmp_path / "me.key").write_bytes(me.key)
    file = tmp_path / "config"
    file.write_text(
        "{clusters: [{name: c, cluster: {server: https://127.0.0.1:1}}], current-context: x, "
        "contexts: [{name: x, context: {cluster: c, user: u}}], "
        "users: [{name: u, user: {client-certificate: me.pem, client-key: me.key}}]}"
    )
    assert certificate_ends(ApiServer(file)) is not None


# Which machines are hosts.


def test_hosts_are_this_machine_and_those_of_its_labs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = StandingHost("db-1", "10.77.0.1", Identity(1, 2), None)
    gone = StandingHost("db-2", "10.77.0.2", Identity(1, 2), None)
    lab = StandingLab("0a1b2c3d", "x", kept=True, hosts=(host, gone))
    monkeypatch.setattr("dunnage.hosts.standing.LABS", tmp_path)
    lab.directory.mkdir()
    lab.machine_id("db-1").write_text("of-db-1\n")
    (tmp_path / "id").write_text("own\n")
    (tmp_path / "boot").write_text("b\n")
    monkeypatch.setattr(own, "_IDS", (tmp_path / "none", tmp_path / "id"))
    monkeypatch.setattr(own, "_BOOT", tmp_path / "boot")
    monkeypatch.setattr(own, "standing", lambda: (lab,))
    assert own.machines() == {
        ("own", "b"): "this machine",
        ("of-db-1", "b"): "db-1 of lab 0a1b2c3d",
    }

    def forbidden() -> None:
        raise UnavailableError("only root can look into labs")

    monkeypatch.setattr(own, "standing", forbidden)
    monkeypatch.setattr(own, "_IDS", ())
    assert own.machines() == {}


def test_the_catalog_asks_with_the_machines_that_are_here(
    cluster: Cluster, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "machines", lambda: {("elsewhere", "boot"): "db-9"})
    told = catalog.cluster("mine", kubeconfig)
    assert [each.host for each in told.nodes] == ["", "db-9"]
