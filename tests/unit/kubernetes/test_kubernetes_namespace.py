"""A stay's namespace on an API that is played: made, asked, and removed with all that is in it."""

from __future__ import annotations

import httpx2
import pytest
from played_api import (
    CLAIMS,
    MADE,
    NAMESPACES,
    POD,
    STAY,
    VOLUME,
    VOLUMES,
    Answer,
    Api,
    a_pod,
    begun,
    ok,
    opened,
    status,
)

from dunnage.clusters import outage, removal
from dunnage.contracts.cluster import OF_A_STAY
from dunnage.errors import StayError, UnavailableError
from dunnage.platforms.kubernetes.addresses import Served
from dunnage.platforms.kubernetes.namespace import Namespace
from dunnage.platforms.kubernetes.objects import headless


def test_a_namespace_is_begun_once_and_its_objects_are_put_into_it() -> None:
    api = Api().on(f"POST {NAMESPACES}", MADE)
    chosen = {"clusterIP": "10.68.0.7", "ports": [{"port": 6379, "nodePort": 30123}, {"port": 1}]}
    service = ok(apiVersion="v1", kind="Service", metadata={"name": "redis-1"}, spec=chosen)
    api.on(f"POST {NAMESPACES}/dunnage-b1-x-1/services", service)
    own = opened(api)
    own.begin()
    own.begin()
    assert own.service(headless("redis-1", STAY), "redis-1") == Served("10.68.0.7", {6379: 30123})
    assert len(api.asked) == 2


OWN = f"{NAMESPACES}/dunnage-b1-x-1"


def labelled(**labels: str) -> httpx2.Response:
    return ok(kind="Namespace", metadata={"name": "dunnage-b1-x-1", "labels": labels})


def deleted(api: Api) -> list[str]:
    """What was deleted once all of a stay was taken down."""
    return [asked for asked in api.asked if asked.startswith("DELETE")]


def taken_down(own: Namespace) -> None:
    """All that a platform asks for at the end of a stay, whatever became of its beginning."""
    own.let_go("redis-1", "redis-1-0", lost=False)
    own.release()
    own.await_gone("redis-1-0", "redis-1")
    own.remove_pod("client-1", "client-1", lost=True)
    own.leave()
    own.end()


def test_a_namespace_of_someone_elses_is_refused_and_left_with_all_that_is_in_it() -> None:
    """It may hold what has the names of our members."""
    api = Api().on(f"POST {NAMESPACES}", status(409)).on(f"GET {OWN}", labelled(team="t"))
    api.on(f"GET {POD}", a_pod())
    own = opened(api)
    with pytest.raises(UnavailableError, match="not of this stay") as refused:
        own.begin()
    shown = "get namespace dunnage-b1-x-1 --show-labels"
    assert refused.value.hint == f"kubectl --context theirs {shown}"
    taken_down(own)
    assert api.asked == [f"POST {NAMESPACES}", f"GET {OWN}"]


def interrupted(api: Api) -> Answer:
    """The API, before whose first answer of whose the namespace is the user presses Ctrl-C."""
    left = 1

    def answer(request: httpx2.Request) -> httpx2.Response:
        nonlocal left
        if left and f"{request.method} {request.url.path}" == f"GET {OWN}":
            left = 0
            raise KeyboardInterrupt
        return api(request)

    return answer


@pytest.mark.parametrize(("label", "removed"), [("b1-x-1", [f"DELETE {OWN}"]), ("another", [])])
def test_who_is_interrupted_while_it_asks_whose_a_namespace_is_deletes_only_its_own(
    label: str, removed: list[str]
) -> None:
    theirs = labelled(**{**STAY.labels, OF_A_STAY: label})
    api = Api().on(f"POST {NAMESPACES}", status(409)).on(f"GET {OWN}", theirs, status(404))
    api.on(f"DELETE {OWN}", ok(kind="Status"))
    own = opened(interrupted(api))
    with pytest.raises(KeyboardInterrupt):
        own.begin()
    own.end()
    assert deleted(api) == removed


def test_a_server_that_fails_when_it_is_asked_whose_a_namespace_is_makes_nothing_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outage, "AWAY", 0.0)
    api = Api().on(f"POST {NAMESPACES}", status(409))
    api.on(f"GET {OWN}", status(503), status(503), labelled(team="t"))
    own = opened(api)
    with pytest.raises(StayError, match="the stay's namespace cannot be created"):
        own.begin()
    with pytest.raises(StayError, match="it is not known whether the namespace is the stay's"):
        own.end()
    taken_down(own)
    assert deleted(api) == []


def test_a_namespace_whose_answer_was_lost_is_asked_for_again_and_is_ours() -> None:
    made = labelled(**STAY.labels)
    api = Api().on(f"POST {NAMESPACES}", status(409)).on(f"GET {OWN}", made, status(404))
    api.on(f"DELETE {OWN}", ok(kind="Status"))
    lost = 1

    def losing(request: httpx2.Request) -> httpx2.Response:
        nonlocal lost
        if request.method == "POST" and lost:
            lost -= 1
            raise httpx2.ReadTimeout("timed out")
        return api(request)

    own = opened(losing)
    own.begin()
    own.end()
    assert api.asked.count(f"DELETE {OWN}") == 1


def test_a_namespace_that_may_be_there_is_removed_though_no_answer_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outage, "AWAY", 0.0)
    api = Api().on(f"DELETE {OWN}", ok(kind="Status"))
    api.on(f"GET {OWN}", labelled(**STAY.labels), status(404))

    def losing(request: httpx2.Request) -> httpx2.Response:
        if request.method == "POST":
            raise httpx2.ReadTimeout("timed out")
        return api(request)

    own = opened(losing)
    with pytest.raises(StayError, match="the stay's namespace cannot be created: timed out"):
        own.begin()
    own.end()
    assert f"DELETE {OWN}" in api.asked


def test_other_refusals_are_told_in_the_clusters_words() -> None:
    api = Api().on(f"POST {NAMESPACES}", status(403, "namespaces is forbidden"))
    own = opened(api)
    with pytest.raises(StayError, match="namespaces is forbidden") as refused:
        own.begin()
    assert refused.value.hint == "kubectl --context theirs describe nodes"
    own.end()
    assert api.asked == [f"POST {NAMESPACES}"]


def test_a_pod_that_is_not_there_is_none_and_a_refusal_is_told() -> None:
    assert opened(Api()).pod("redis-1-0", "redis-1") is None
    with pytest.raises(StayError, match="redis-1: its pod cannot be inspected: forbidden"):
        opened(Api().on(f"GET {POD}", status(403, "forbidden"))).pod("redis-1-0", "redis-1")


def test_a_log_is_empty_before_there_is_a_container() -> None:
    def logged(answer: httpx2.Response) -> str:
        return opened(Api().on(f"GET {POD}/log", answer)).log("redis-1-0", 2, "redis-1")

    assert logged(httpx2.Response(200, text="one\ntwo\n")) == "one\ntwo\n"
    assert logged(status(400)) == logged(status(404)) == ""
    with pytest.raises(StayError, match="log cannot be read"):
        logged(status(403))


def test_the_log_of_the_container_before_is_asked_for_by_name() -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(200, text="last words\n")

    assert opened(answer).log("redis-1-0", 2, "redis-1", previous=True) == "last words\n"
    assert asked == [f"http://cluster{POD}/log?tailLines=2&previous=true"]


def test_a_log_is_asked_for_again_while_its_container_is_replaced() -> None:
    lost = httpx2.Response(200, text="unable to retrieve container logs for containerd://6028")
    api = Api().on(f"GET {POD}/log", lost, lost, httpx2.Response(200, text="bad option\n"))
    assert opened(api).log("redis-1-0", 2, "redis-1") == "bad option\n"


def test_all_of_a_stay_is_removed_its_volumes_too_and_is_waited_for() -> None:
    own = f"{NAMESPACES}/dunnage-b1-x-1"
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"DELETE {own}", ok(kind="Status"))
    left, nothing = ok(items=[VOLUME], metadata={}), ok(items=[], metadata={})
    api.on(f"GET {own}", MADE, status(404)).on(f"GET {VOLUMES}", left, nothing)
    api.on(f"POST {VOLUMES}", ok(**VOLUME))
    there = opened(api)
    there.release()  # nothing has begun
    assert api.asked == []
    there.begin()
    there.create(VOLUME, "redis-1")
    there.release()
    there.end()
    assert api.asked.count(f"DELETE {own}") == 1
    assert f"DELETE {VOLUMES}/dunnage-b1-x-1-redis-1" in api.asked
    asked = list(api.asked)
    assert asked[-1] == f"GET {VOLUMES}"
    there.end()  # nothing is left to be asked for
    assert api.asked == asked


@pytest.mark.parametrize("ours", [True, False])
def test_who_has_made_no_volume_asks_for_none(ours: bool) -> None:
    """That may be forbidden to who is allowed all else."""
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"DELETE {OWN}", ok(kind="Status"))
    api.on(f"GET {OWN}/services", ok(items=[], metadata={}))
    api.on(f"GET {VOLUMES}", status(403, "volumes are forbidden"))
    there = opened(api)
    there.begin()
    if ours:
        there.leave()
    else:
        there.end()
    assert api.asked == [
        f"POST {NAMESPACES}",
        f"DELETE {OWN}",
        f"GET {OWN}/services" if ours else f"GET {OWN}",
    ]


def test_volumes_whose_creation_was_not_answered_are_removed_with_their_claims() -> None:
    api = Api().on(f"POST {NAMESPACES}", MADE).on(f"DELETE {OWN}", ok(kind="Status"))
    left, nothing = ok(items=[VOLUME], metadata={}), ok(items=[], metadata={})
    claim = {"metadata": {"name": "redis-1"}}
    api.on(f"POST {VOLUMES}", status(500)).on(f"GET {VOLUMES}", left, nothing)
    api.on(f"GET {OWN}/services", nothing).on(f"GET {CLAIMS}", ok(items=[claim], metadata={}))
    there = opened(api)
    there.begin()
    with pytest.raises(StayError, match="its PersistentVolume cannot be created"):
        there.create(VOLUME, "redis-1")
    there.leave()
    assert api.asked[-6:] == [
        f"GET {OWN}/services",
        f"GET {CLAIMS}",
        f"DELETE {CLAIMS}/redis-1",
        f"GET {VOLUMES}",
        f"DELETE {VOLUMES}/dunnage-b1-x-1-redis-1",
        f"GET {VOLUMES}",
    ]


def test_what_does_not_go_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removal, "REMOVED", -1.0)
    sets = "/apis/apps/v1/namespaces/dunnage-b1-x-1/statefulsets/redis-1"
    api = Api().on(f"GET {POD}", a_pod()).on(f"DELETE {sets}", ok(kind="Status"))
    there = begun(api)
    there.let_go("redis-1", "redis-1-0", lost=True)
    assert api.asked == [f"DELETE {sets}", f"DELETE {POD}"]
    with pytest.raises(StayError, match="redis-1: pod `redis-1-0` is still there"):
        there.await_gone("redis-1-0", "redis-1")
    assert api.asked[2:] == [f"GET {POD}"]


def test_a_pod_is_ended_though_its_set_makes_another_of_its_name_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(removal, "REMOVED", -1.0)
    anew = ok(kind="Pod", metadata={"name": "redis-1-0", "uid": "v"}, status={})
    api = Api().on(f"GET {POD}", a_pod(), anew).on(f"DELETE {POD}", ok(kind="Status"))
    begun(api).end_pod("redis-1-0", "u", "redis-1")
    assert api.asked == [f"GET {POD}", f"DELETE {POD}", f"GET {POD}"]
    begun(api).end_pod("redis-1-0", "u", "redis-1")
    assert api.asked[3:] == [f"GET {POD}"], "the other one lives on"
    api.on(f"GET {POD}", a_pod())
    with pytest.raises(StayError, match="redis-1: pod `redis-1-0` is still there"):
        begun(api).end_pod("redis-1-0", "u", "redis-1")


def test_an_api_that_is_gone_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "AWAY", 0.0)

    def gone(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("connection refused")

    with pytest.raises(StayError, match="connection refused"):
        opened(gone).pod("redis-1-0", "redis-1")
