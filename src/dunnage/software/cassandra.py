"""Cassandra 5.0 and 4.1: a Java 17 runtime of Debian's packages, and the jars of Maven Central.

Java finds itself by its own path, so the tree has the shape of a Java runtime:

    bin/java             the only program
    conf/, lib/          Java's own and the system libraries that it maps; lib/server/libjvm.so
    lib/cassandra/*.jar  the server with all that it needs
    lib/native/*.so      what jars would otherwise unpack into /tmp and map from there
    lib/jvm.args         what the software asks of Java whatever the study: class path, exports,
                         opens, native libraries, Java agent, assertions, class-data archive
    lib/nodetool.args    the same for nodetool, up to and with its main class
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
