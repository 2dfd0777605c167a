"""What the machine is made of: Debian's own kernel, and a root file system that packages make.

root.ext4       all of its files; every boot begins with these bytes
vmlinuz, initrd.img
packages.txt    every package, with its version

It is made once, in the cache of Dunnage, and again when what it is made of changes. The one
before goes then: each takes more than a gigabyte. `make vm-tools` makes it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dunnage.software.cache import Cache

REVISION = 2
"""Of how it is made, where that changes without what it is made of."""
SUITE = "bookworm"
PACKAGES = (
    "linux-image-cloud-amd64",
    "apparmor",
    "systemd-sysv",
    "udev",
    "dbus",
    "kmod",
    "procps",
    "iproute2",
    "e2fsprogs",
    "git",
    "make",
    "python3",
    "python3-venv",
)
"""Beside those that every Debian has. What README's commands install otherwise is among them, for
nothing can be downloaded in there: all but a compiler, as the engine is handed in. The kernel
recommends `apparmor`, so that everybody has it who did not decline."""
NEEDED = (
    "BLK_CGROUP",
    "DUMMY",
    "IP_VS",
    "NET_SCH_NETEM",
    "OVERLAY_FS",
    "VIRTIO_BLK",
    "VIRTIO_CONSOLE",
    "VXLAN",
)
"""Options of the kernel that tests rely on."""
AGENT = "/usr/local/lib/agent.py"
SIZE = "12G"
"""Of the file system; the file holds no more than what is in it."""
_NAME = "debian-12-machine"
_AGENT = Path(__file__).with_name("machine_agent.py")
_UNIT = f"""\
[Unit]
Description=Carries out commands from outside
FailureAction=poweroff
SuccessAction=poweroff

[Service]
ExecStart=/usr/bin/python3 {AGENT}
StandardError=journal+console

[Install]
WantedBy=multi-user.target
"""
_FILES: Mapping[str, str] = {
    "etc/fstab": "/dev/vda / ext4 defaults,noatime 0 1\n",
    "etc/hostname": "debian\n",
    "etc/hosts": "127.0.0.1 localhost\n127.0.1.1 debian\n",
    "etc/machine-id": "",
    "etc/systemd/system/agent.service": _UNIT,
}
"""Written over what packages bring. An empty `machine-id` is filled at each boot."""
_WANTED = "etc/systemd/system/multi-user.target.wants/agent.service"
_MASKED = ("apt-daily.timer", "apt-daily-upgrade.timer", "e2scrub_all.timer", "fstrim.timer")
_APT_OPTIONS = "etc/apt/apt.conf.d/99mmdebstrap"
"""Where mmdebstrap keeps the settings that it was given."""
_MAKING = 3600
"""Seconds that packages may take."""


@dataclass(frozen=True)
class Image:
    """Files in the cache."""

    root: Path
    kernel: Path
    initial: Path
    """The first, small root file system, of the drivers that the kernel needs for the real one."""


def image(cache: Cache | None = None) -> Image:
    """The image, made of packages on first use, which takes minutes and root's rights.

    Raises CalledProcessError or TimeoutExpired, with what the program said on standard error, and
    LookupError where the kernel lacks something.
    """
    there = cache or Cache()
    is_new = there.find(request()) is None
    entry = there.obtain(request(), _make)
    if is_new:
        remove_others(there.root, request(), entry.name)
    return Image(entry / "root.ext4", entry / "vmlinuz", entry / "initrd.img")


def remove_others(cache: Path, request: str, entry: str) -> None:
    """Remove every image from a cache but the one to which this request leads."""
    for reference in (cache / "references").glob(f"{_NAME}-*"):
        if reference.name != request:
            reference.unlink(missing_ok=True)
    for image in (cache / "entries").glob(f"{_NAME}-*"):
        if image.name != entry:
            shutil.rmtree(image, ignore_errors=True)


def request() -> str:
    """Its name in the cache, by all that it is made of as far as this module decides."""
    made_of = [REVISION, SUITE, PACKAGES, SIZE, _FILES, _MASKED, _AGENT.read_text()]
    digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
    return f"{_NAME}-{digest[:12]}"


def lacking(config: str) -> tuple[str, ...]:
    """The needed options that a kernel was built without, by the text of its configuration."""
    set_ = {
        line.partition("=")[0].removeprefix("CONFIG_")
        for line in config.splitlines()
        if line.endswith(("=y", "=m"))
    }
    return tuple(option for option in NEEDED if option not in set_)


def sources(etc: Path) -> tuple[str, ...]:
    """Files that say where this machine gets packages of the same Debian; none where it is another.

    `etc` is apt's directory.
    """
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    return tuple(
        str(file)
        for file in files
        if file.suffix in (".list", ".sources") and file.is_file() and _is_debians(file.read_text())
    )


def _is_debians(text: str) -> bool:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return any("/debian" in line for line in lines) and any(SUITE in line for line in lines)


def _make(entry: Path) -> str:
    root = entry / "root"
    with tempfile.NamedTemporaryFile("w") as settings:  # of this user alone: it may hold a password
        settings.write(_run(["apt-config", "dump", "Acquire"]) + 'APT::Sandbox::User "root";\n')
        settings.flush()
        _run(
            [
                *("mmdebstrap", "--mode=root", "--variant=minbase", "--quiet"),
                *(f"--aptopt={settings.name}", f"--include={','.join(PACKAGES)}"),
                *(SUITE, str(root), *sources(Path("/etc/apt"))),
            ],
            _MAKING,
        )
    (root / _APT_OPTIONS).unlink()
    _furnish(root)
    (kernel,) = (root / "boot").glob("vmlinuz-*")
    version = kernel.name.removeprefix("vmlinuz-")
    if missing := lacking((root / "boot" / f"config-{version}").read_text()):
        raise LookupError(f"Debian's kernel {version} was built without {', '.join(missing)}")
    shutil.copy(kernel, entry / "vmlinuz")
    shutil.copy(root / "boot" / f"initrd.img-{version}", entry / "initrd.img")
    listed = ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "--show"]
    packages = _run(listed)
    (entry / "packages.txt").write_text(packages)
    _run(["mkfs.ext4", "-q", "-d", str(root), str(entry / "root.ext4"), SIZE])
    shutil.rmtree(root)
    digest = hashlib.sha256(f"{request()}\n{packages}".encode()).hexdigest()
    return f"{_NAME}-{version}-{digest[:12]}"


def _furnish(root: Path) -> None:
    """Write what packages do not bring."""
    for path, text in {**_FILES, AGENT.lstrip("/"): _AGENT.read_text()}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / _WANTED).parent.mkdir(parents=True, exist_ok=True)
    (root / _WANTED).symlink_to("/etc/systemd/system/agent.service")
    for unit in _MASKED:
        (root / "etc/systemd/system" / unit).symlink_to("/dev/null")


def _run(argv: Sequence[str], seconds: float = 600) -> str:
    """What a program printed; what it complains of goes to our own standard error."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True, timeout=seconds)
    return done.stdout


if __name__ == "__main__":
    image()
