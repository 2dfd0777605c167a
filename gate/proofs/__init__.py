"""Long proofs: their page `docs/proofs.md`, which are tried when, and which held twice."""

from gate.proofs.page import PAGE, command

__all__ = ["PAGE", "command"]
