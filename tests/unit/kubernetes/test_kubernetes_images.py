"""Images that nodes are given before a stay's pods begin."""

from __future__ import annotations

from pathlib import Path

import pytest
from played_api import host_that, tree

from dunnage.contracts.host import Completed
from dunnage.contracts.kubernetes import ContainerRuntime
from dunnage.errors import StayError, UnavailableError
from dunnage.platforms.kubernetes.images import provide
from dunnage.platforms.kubernetes.objects import Image

# Images and networks, as hosts tell of them.

RUNTIME = ContainerRuntime(("/bin/ctr", "--address", "/sock"), {"A": "1"})


def test_an_image_is_imported_where_containerd_has_it_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    layer = tmp_path / "image.tar"
    layer.write_bytes(b"layer")
    none, there = Completed(0, "", ""), Completed(0, "docker.io/dunnage/redis:1\n", "")
    with host_that(monkeypatch, none, none) as (host, ran):
        assert provide(host, RUNTIME, tree(layer)) == Image("dunnage/redis:1", imported=True)
        assert ran[0] == ("env A=1 /bin/ctr --address /sock --namespace k8s.io images list --quiet")
        assert "images import" in ran[1]
        assert ran[1].endswith("/dunnage-redis-1.tar"), "other software is brought beside it"
        assert not [file for file in host.files if file.endswith(".tar")]
    with host_that(monkeypatch, there) as (host, ran):
        assert provide(host, RUNTIME, tree(layer)).imported
        assert len(ran) == 1


def test_an_image_that_a_study_names_is_left_to_its_kubelet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with host_that(monkeypatch) as (host, ran):
        named = provide(host, None, tree(tmp_path, "redis:7.0"))
        assert (named, ran) == (Image("redis:7.0", imported=False), [])
        with pytest.raises(UnavailableError, match="name one that it can pull"):
            provide(host, None, tree(tmp_path))


def test_a_refusal_of_containerds_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (
        host_that(monkeypatch, Completed(1, "", "no socket")) as (host, _),
        pytest.raises(StayError, match="`ctr images list`: no socket"),
    ):
        provide(host, RUNTIME, tree(tmp_path))
