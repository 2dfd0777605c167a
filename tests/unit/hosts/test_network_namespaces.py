"""Which network namespaces are mounted, from what the kernel tells of mounts."""

from __future__ import annotations

from dunnage.hosts.namespace.networks import mounted

MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
610 25 0:4 net:[4026532281] /run/netns/cni-1 rw shared:250 - nsfs nsfs rw
611 25 0:4 net:[4026532281] /run/again rw - nsfs nsfs rw
612 25 0:4 net:[4026532405] /run/docker/netns/1-x rw - nsfs nsfs rw
613 25 0:4 mnt:[4026531841] /run/mounts rw - nsfs nsfs rw
614 25 0:4 / /mnt/net:[4026532999] rw - tmpfs tmpfs rw
"""


def test_each_network_namespace_that_is_mounted_counts_once_and_nothing_else() -> None:
    assert mounted(MOUNTS) == {4026532281, 4026532405}
    assert mounted("") == set()
