"""A server of MongoDB's wire protocol in Java that keeps records in memory: good to compare clients
and to test a driver with, and no database to measure."""

from __future__ import annotations

from pathlib import Path

from .jars import jars

VERSION = "1.47.0"
PORT = 27017
"""The one that it takes."""
_KNOWN = Path(__file__).with_name(f"mongo-java-server-{VERSION}.sha256")
_MAIN = "de.bwaldvogel.mongo.InMemoryMongoServer"


def argv(prefix: str, *options: str) -> tuple[str, ...]:
    """What starts it with options of Java, where the tree of a Java is at `prefix`.

    Raises UnavailableError when its jars cannot be had.
    """
    directory = jars(f"de.bwaldvogel:mongo-java-server:{VERSION}", _KNOWN)
    return (f"{prefix}/bin/java", *options, "-cp", f"{directory}/*", _MAIN)
