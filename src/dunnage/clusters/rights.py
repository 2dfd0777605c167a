"""What a user must be allowed, so that stays can be carried out in a Kubernetes, and hosts had."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from lightkube import Client
from lightkube.models.authorization_v1 import ResourceAttributes, SelfSubjectAccessReviewSpec
from lightkube.resources.authorization_v1 import SelfSubjectAccessReview

from dunnage.contracts.cluster import EVERY_STUDY
from dunnage.model.choices import Storage


@dataclass(frozen=True)
class Right:
    """What must be allowed, as rules of roles tell it."""

    verb: str
    resource: str
    subresource: str = ""
    group: str = ""

    @property
    def kind(self) -> str:
        """What it is about, as `kubectl create clusterrole` takes it: `statefulsets.apps`,
        `pods/exec`."""
        below = f"/{self.subresource}" if self.subresource else ""
        group = f".{self.group}" if self.group else ""
        return f"{self.resource}{group}{below}"

    def __str__(self) -> str:
        return f"{self.verb} {self.kind}"


OF_EVERY_STUDY = (
    Right("list", "nodes"),
    Right("create", "namespaces"),
    Right("get", "namespaces"),
    Right("list", "namespaces"),
    Right("delete", "namespaces"),
    Right("create", "statefulsets", group="apps"),
    Right("delete", "statefulsets", group="apps"),
    Right("create", "services"),
    Right("create", "pods"),
    Right("get", "pods"),
    Right("list", "pods"),
    Right("delete", "pods"),
    Right("get", "pods", "log"),
    Right("get", "pods", "exec"),
    Right("create", "pods", "exec"),
)
"""What hosts that are nodes need, and every stay on them.

A command is run by a websocket, which begins as a `GET`: so it is authorised as `get pods/exec`.
Since Kubernetes 1.35 it needs `create pods/exec` in addition.
"""
OF_VOLUMES = (
    Right("create", "persistentvolumeclaims"),
    Right("get", "persistentvolumeclaims"),
    Right("create", "persistentvolumes"),
    Right("get", "persistentvolumes"),
    Right("list", "persistentvolumes"),
    Right("delete", "persistentvolumes"),
)
"""What stays need besides whose data lies on volumes. These are in no namespace, so only those who
administer a cluster may be allowed that."""
OF_EXPLANATIONS = (Right("list", "events"),)
"""What tells more of a pod that does not start. No study is refused for want of it."""
PURPOSES: Mapping[str, tuple[Right, ...]] = {
    EVERY_STUDY: OF_EVERY_STUDY,
    f"`storage: {Storage.VOLUME.value}`": OF_VOLUMES,
    "telling why a pod does not start": OF_EXPLANATIONS,
}
"""What for → what must be allowed."""
ALL = tuple(right for rights in PURPOSES.values() for right in rights)


def needed(storages: Collection[Storage]) -> tuple[Right, ...]:
    """What a study cannot do without in a cluster; on its deployments' storage it depends."""
    return (*OF_EVERY_STUDY, *OF_VOLUMES) if Storage.VOLUME in storages else OF_EVERY_STUDY


def missing(client: Client, rights: Iterable[Right]) -> tuple[Right, ...]:
    """Those that the cluster says its user has not; raises `Refused`."""
    return tuple(right for right in rights if not allowed(client, right))


def allowed(client: Client, right: Right) -> bool:
    """Whether the cluster says that its user has a right; raises `Refused`."""
    asked = ResourceAttributes(
        verb=right.verb,
        resource=right.resource,
        subresource=right.subresource,
        group=right.group,
    )
    review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resourceAttributes=asked))
    answered = client.create(review)
    return answered.status is not None and bool(answered.status.allowed)
