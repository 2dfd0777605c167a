"""What Java is told: the same words for every member in every deployment, nothing left to guess.

Java sizes its heap, its pools of threads and its collector by the memory and the processors that it
finds, and in a container it finds other ones. So all of that is said here. What the software itself
asks of Java (class path, exports, native libraries, class-data archive) lies in the tree.
"""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.databases.cassandra.demand import Jvm
from dunnage.model.layout import Place

MAIN = "org.apache.cassandra.service.CassandraDaemon"
FIRST_JMX, FIRST_STORAGE = 7199, 7000

_COLLECTORS: Mapping[str, tuple[str, ...]] = {
    # As Cassandra ships it, but for the size of a region: 16 MB would leave a small heap only 32.
    "G1": (
        "-XX:+UseG1GC",
        "-XX:+ParallelRefProcEnabled",
        "-XX:MaxTenuringThreshold=1",
        "-XX:G1HeapRegionSize=4m",
        "-XX:G1RSetUpdatingPauseTimePercent=5",
        "-XX:MaxGCPauseMillis=300",
        "-XX:InitiatingHeapOccupancyPercent=70",
    ),
    "Parallel": ("-XX:+UseParallelGC",),
    "Serial": ("-XX:+UseSerialGC",),
}
_COMPILERS: Mapping[str, tuple[str, ...]] = {"C1+C2": (), "C1": ("-XX:TieredStopAtLevel=1",)}


def configuration(place: Place) -> str:
    """Path of a member's `cassandra.yaml`."""
    return f"{place.home}/cassandra.yaml"


def logging(place: Place) -> str:
    """Path of what says how a member and its nodetool write their log."""
    return f"{place.home}/logback.xml"


def server(place: Place, jvm: Jvm) -> tuple[str, ...]:
    """The command of a member."""
    return (
        f"{place.prefix}/bin/java",
        f"@{place.prefix}/lib/jvm.args",
        f"-Xms{jvm.heap}M",
        f"-Xmx{jvm.heap}M",
        f"-XX:MaxDirectMemorySize={jvm.direct}M",
        f"-XX:ActiveProcessorCount={jvm.processors}",
        "-XX:-UseContainerSupport",
        *_COLLECTORS[jvm.collector],
        *_COMPILERS[jvm.compilers],
        *_keeps_to(place),
        f"-XX:ErrorFile={place.home}/java-error.log",
        "-XX:-CreateCoredumpOnCrash",
        "-Xlog:gc+init:stdout",
        f"-Dcassandra.config=file://{configuration(place)}",
        f"-Dcassandra.storagedir={place.data}",
        f"-Dlogback.configurationFile={logging(place)}",
        "-Dcassandra-foreground=yes",
        f"-Dcassandra.jmx.local.port={jmx_port(place)}",
        "-Djdk.nio.maxCachedBufferSize=1048576",
        *_FORMS_AT_ONCE,
        MAIN,
    )


# A ring whose tokens are given and which holds no data has nothing to wait for: who is there is
# asked of the members themselves before anything is measured.
_FORMS_AT_ONCE = (
    "-Dcassandra.skip_wait_for_gossip_to_settle=0",
    "-Dcassandra.superuser_setup_delay_ms=0",
)


def nodetool(place: Place, *words: str) -> tuple[str, ...]:
    """A nodetool command for the member at `place`, run beside it."""
    return (
        f"{place.prefix}/bin/java",
        *_keeps_to(place),
        # Otherwise it tells on its output how it is made.
        f"-Dlogback.configurationFile={logging(place)}",
        f"@{place.prefix}/lib/nodetool.args",
        "-h",
        "127.0.0.1",
        "-p",
        str(jmx_port(place)),
        *words,
    )


def jmx_port(place: Place) -> int:
    """Where a member answers nodetool, on its loopback only.

    It goes up as the member's other ports do where members share a host; nobody else is told.
    """
    return FIRST_JMX - FIRST_STORAGE + place.ports["storage"].bind.port


def _keeps_to(place: Place) -> tuple[str, ...]:
    """Java writes nothing outside the member's own directories."""
    return (
        "-XX:-UsePerfData",
        f"-Djava.io.tmpdir={place.home}",
        f"-Duser.home={place.home}",
    )
