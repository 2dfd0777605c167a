"""What every sampler leaves: lines of JSON (`engine-samples` schema), a reading each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dunnage.errors import RunError
from dunnage.model.load import Sample, Samples

SAMPLES = "samples.jsonl"
VERSION = 2
"""Of the samples. 1: first. 2: network counters are the uplink's, and inner devices are apart."""


def readings(artefacts: Mapping[str, bytes]) -> Samples:
    """Read what a sampler left; a last line that was cut off is left out.

    Raises RunError when there is no file, no header or no sample.
    """
    if SAMPLES not in artefacts:
        raise RunError(f"the sampler left no `{SAMPLES}`")
    lines = _lines(artefacts[SAMPLES])
    header = next((line for line in lines if line["line"] == "header"), None)
    samples = [line for line in lines if line["line"] == "sample"]
    if header is None or not samples:
        raise RunError(f"`{SAMPLES}` holds no sample")
    if not 1 <= header["version"] <= VERSION:
        raise RunError(f"`{SAMPLES}` has version {header['version']}, above {VERSION}")
    return Samples(
        host=header["host"],
        interval=header["interval"],
        samples=tuple(Sample(line["time"], line["units"], line["machine"]) for line in samples),
        own_cpu=tuple(line["own_cpu"] for line in samples),
        absent=header["absent"],
    )


def _lines(content: bytes) -> list[dict[str, Any]]:
    """Every whole line; what a killed sampler was writing has no end of line."""
    whole, _, _ = content.rpartition(b"\n")
    try:
        return [json.loads(line) for line in whole.splitlines()]
    except ValueError as error:
        raise RunError(f"`{SAMPLES}` cannot be read: {error}") from None
