"""An image in one file, as `docker save` writes it: containerd imports it by its name.

The same layer gives the same bytes: times are zero, everything belongs to root.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Sequence
from pathlib import Path

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Names of architectures in images, where they are not the kernel's."""


def write_archive(layer: Path, tag: str, command: Sequence[str], archive: Path) -> None:
    """Write the image `tag` whose only layer is a root file system in a tar file.

    `command` is what a container of it runs if it is not told otherwise.
    """
    content = layer.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    config = _json(
        {
            "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": {"Entrypoint": list(command)},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        }
    )
    named = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": named, "RepoTags": [tag], "Layers": [f"{digest}.tar"]}]
    parts = {named: config, f"{digest}.tar": content, "manifest.json": _json(manifest)}
    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, data in sorted(parts.items()):
            entry = tarfile.TarInfo(name)
            entry.mode, entry.size = 0o644, len(data)
            tar.addfile(entry, io.BytesIO(data))


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()
