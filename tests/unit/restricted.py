"""What the strictest Pod Security Standard asks of a pod, `restricted`.

As https://kubernetes.io/docs/concepts/security/pod-security-standards has it.
"""

from __future__ import annotations

from typing import Any


def insist_restricted(spec: dict[str, Any]) -> None:
    """Fail for a pod that a cluster would not take which enforces it."""
    for shared in ("hostPID", "hostNetwork", "hostIPC"):
        assert not spec.get(shared)
    assert all(set(each) & {"emptyDir", "persistentVolumeClaim"} for each in spec["volumes"])
    own = spec["securityContext"]
    assert own["runAsNonRoot"] is True
    assert own["runAsUser"] > 0
    assert own["seccompProfile"] == {"type": "RuntimeDefault"}
    for each in (*spec.get("initContainers", []), *spec["containers"]):
        secured = each["securityContext"]
        assert secured["allowPrivilegeEscalation"] is False
        assert secured["capabilities"] == {"drop": ["ALL"]}
        assert secured.get("runAsUser", 1) > 0
        assert not any("hostPort" in port for port in each.get("ports", []))
