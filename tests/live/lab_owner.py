"""A process that owns a lab until it is killed: the victim of tests.

Arguments: engine, `keep` or `leave`, and what to do: `stay`, `freeze` or `end`.
Prints the lab's name when it is ready.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

from dunnage.hosts.namespace.testbed import open_namespace
from dunnage.model.study import TestbedSpec

# Where the tests run in a shell's background, an interrupt is ignored from the start.
signal.signal(signal.SIGINT, signal.default_int_handler)

engine, fate, act = sys.argv[1:]
spec = TestbedSpec(kind="namespace", hosts={"db": 2, "client": 1})
with open_namespace(spec, name="victim", engine=Path(engine), keep=fate == "keep") as testbed:
    host = testbed.hosts[0]
    host.put(f"{host.scratch}/data", b"data")
    host.start(["sleep", "1000"], unit="sleeper", log="/run/sleeper.log")
    if act == "freeze":
        host.freeze("sleeper")
    sys.stdout.write(f"{testbed.name}\n")
    sys.stdout.flush()
    if act != "end":
        time.sleep(120)
