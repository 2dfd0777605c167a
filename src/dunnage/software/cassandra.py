"""Cassandra 5.0 and 4.1: a Java 17 runtime of Debian's packages, and the jars of Maven Central.

Java finds itself by its own path, so the tree has the shape of a Java runtime:

    bin/java             the only program
    conf/, lib/          Java's own and the system libraries that it maps; lib/server/libjvm.so
    lib/cassandra/*.jar  the server with all that it needs
    lib/native/*.so      what jars would otherwise unpack into /tmp and map from there
    lib/jvm.args         what the software asks of Java whatever the study: class path, exports,
                         opens, native libraries, Java agent, assertions, class-data archive
    lib/nodetool.args    the same for nodetool, up to and with its main class; lib/nodetool.xml sees
                         to it that it writes what it is asked for and nothing else
    lib/cassandra.jsa    class-data archive of a server that has started, for lib/jvm.args
    lib/nodetool.jsa     class-data archive of nodetool, for lib/nodetool.args

An image has no shell, so both programs are started by Java with a file of arguments, natively and
in a container alike:

    PREFIX/bin/java @PREFIX/lib/jvm.args -Xms512M -Xmx512M -XX:+UseG1GC
        -Dcassandra.config=file://HOME/cassandra.yaml -Dcassandra.storagedir=DATA
        -Dlogback.configurationFile=HOME/logback.xml -Dcassandra.jmx.local.port=7199
        org.apache.cassandra.service.CassandraDaemon
    PREFIX/bin/java @PREFIX/lib/nodetool.args -h 127.0.0.1 -p 7199 status

Heap, collector, configuration and ports are the study's, so no file of the tree has them. Nothing
may stand on the class path before the jars, and no directory at all (no `-cp` after `@`), or Java
ignores the archive and only starts more slowly: configuration is named by address, as above.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dunnage.software.recipe import JavaProgram, JavaRecipe

_PACKAGES = (
    "openjdk-17-jre-headless",
    "libc6",
    "libcrypt1",
    "libgcc-s1",
    "libstdc++6",
    "zlib1g",
)

# Java 17 closes to others what these versions look into: as their own start scripts list it.
_EXPORTED = (
    "java.base/java.lang.ref",
    "java.base/jdk.internal.misc",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.rmi/sun.rmi.transport.tcp",
    "java.sql/java.sql",
    "jdk.attach/sun.tools.attach",
    "jdk.compiler/com.sun.tools.javac.file",
    "jdk.unsupported/sun.misc",
)
_OPENED = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.module",
    "java.base/java.lang.reflect",
    "java.base/java.math",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.util.jar",
    "java.base/sun.nio.ch",
    "jdk.compiler/com.sun.tools.javac",
    "jdk.management/com.sun.management.internal",
)
_SHARED = (
    *(f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTED),
    *(f"--add-opens={name}=ALL-UNNAMED" for name in _OPENED),
    # Native parts are mapped from the tree, never unpacked into a directory of the machine.
    "-Djava.library.path={native}",
    "-Djna.boot.library.path={native}",
    "-Djna.nounpack=true",
    "-Djava.net.preferIPv4Stack=true",
)
# The general options of Cassandra's own start script that depend on neither machine nor study.
_SERVER = (
    "-ea",
    "-da:net.openhft...",
    "-Xss256k",
    "-XX:+UseThreadPriorities",
    "-XX:+AlwaysPreTouch",
    "-XX:-UseBiasedLocking",
    "-XX:+PerfDisableSharedMem",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djdk.attach.allowAttachSelf=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.useCacheForAllThreads=true",
    "-Dio.netty.allocator.maxOrder=11",
    "-Dorg.xerial.snappy.lib.path={native}",
    "-Dorg.xerial.snappy.lib.name=libsnappyjava.so",
)
_TOOL = (
    "-Xmx128m",
    "-Xss256k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Dlogback.configurationFile={lib}/nodetool.xml",
    "-Duser.home=/tmp",  # where it keeps a history
)
_LOGGING = """\
<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
"""
# What nodetool writes is read by programs: nothing else may stand there.
_QUIET = """\
<configuration>
  <appender name="STDERR" class="ch.qos.logback.core.ConsoleAppender">
    <target>System.err</target>
    <encoder><pattern>%-5level %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="STDERR"/></root>
</configuration>
"""
_CONFIGURATION = """\
cluster_name: rehearsal
num_tokens: 1
initial_token: "0"
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: periodic
commitlog_sync_period: 10s
listen_address: 127.0.0.1
start_native_transport: true
rpc_address: 127.0.0.1
endpoint_snitch: SimpleSnitch
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{seeds: "127.0.0.1:7000"}]
"""


def _recipe(version: str, exact: str, *, jamm: str) -> JavaRecipe:
    server = JavaProgram(
        name="jvm",
        options=(
            *_SHARED,
            *_SERVER,
            "-DZstdNativePath={native}/libzstd-jni-1.5.7-2.so",
        ),
        main=None,
        archive="cassandra.jsa",
        rehearsal=(
            "-Xms512M",
            "-Xmx512M",
            "-Dcassandra.config=file://{scratch}/cassandra.yaml",
            "-Dcassandra.storagedir={scratch}/data",
            "-Dcassandra.skip_wait_for_gossip_to_settle=0",
            "-Dcassandra.ring_delay_ms=100",
            "-Dcassandra.jmx.local.port=7199",
            "-Dcassandra-foreground=yes",
            "-Dlogback.configurationFile={scratch}/logback.xml",
            "org.apache.cassandra.service.CassandraDaemon",
        ),
        ready="Starting listening for CQL clients",
        files={"cassandra.yaml": _CONFIGURATION, "logback.xml": _LOGGING},
        agents=(f"jamm-{jamm}.jar",),
    )
    nodetool = JavaProgram(
        name="nodetool",
        options=(*_SHARED, *_TOOL),
        main="org.apache.cassandra.tools.NodeTool",
        archive="nodetool.jsa",
        rehearsal=("help",),
        shipped={"nodetool.xml": _QUIET},
    )
    return JavaRecipe(
        name="cassandra",
        version=version,
        revision=2,
        packages=_PACKAGES,
        artefact=f"org.apache.cassandra:cassandra-all:{exact}",
        jars=_known(exact),
        programs=(server, nodetool),
    )


def _known(exact: str) -> Mapping[str, str]:
    """Name of each jar → SHA-256, from a list beside this file as `sha256sum` writes it."""
    lines = Path(__file__).with_name(f"cassandra-{exact}.sha256").read_text().splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


CASSANDRA_5_0 = _recipe("5.0", "5.0.6", jamm="0.4.0")
CASSANDRA_4_1 = _recipe("4.1", "4.1.9", jamm="0.3.2")
