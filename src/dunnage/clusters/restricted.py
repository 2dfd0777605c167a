"""What pods must say of themselves for the strictest Pod Security Standard, `restricted`.

As https://kubernetes.io/docs/concepts/security/pod-security-standards has it.
"""

from __future__ import annotations

from typing import Any

NOBODY = 65532
"""User and group of what runs without rights."""
OF_CONTAINERS: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
}
"""Security context of each container."""
OF_PODS: dict[str, Any] = {
    "runAsNonRoot": True,
    "runAsUser": NOBODY,
    "runAsGroup": NOBODY,
    "fsGroup": NOBODY,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""Security context of a pod."""
