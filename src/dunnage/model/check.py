"""A validity gate's judgement of one run: what it saw, what it would have accepted, and why."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, model_validator

from dunnage.model.value import Value


class Status(StrEnum):
    """What the instrument thinks of its own run."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class Why(StrEnum):
    """Which case a gate met. With the gate it tells what the readings mean."""

    MEASURED = "measured"
    """Readings stand against what is allowed."""
    NOT_ASKED = "not asked"
    """The gate does not apply to this run."""
    NOT_KNOWN = "not known"
    """What it judges could not be read."""
    UNSEEN = "unseen"
    """What it judges is where nobody sees it: the run counts all the same."""
    NOTHING = "nothing"
    """Nothing was there to be judged: no answer, no host, no search probe that was sustained."""
    OVER_CAPACITY = "over capacity"
    """The deployment could not keep up with an open load."""
    CLIENT_LATE = "client late"
    """The load generator could not keep up with its own schedule."""
    NONE_REFUSED = "none refused"
    """A search met no rate that was too high."""
    CLIENT_LIMIT = "client limit"
    """A search ended at what the load generator can do."""
    TOO_SHORT = "too short"
    MOVED = "moved"
    """Throughput moved by more than in the study's other runs."""
    INCOMPLETE = "incomplete"
    """Samples of some hosts are missing."""
    OUTSIDE = "outside"
    """Connections went to addresses that are no part of the endpoint."""
    SET = "set"
    """A clock was set."""
    QUOTA = "quota"
    """What would be too much elsewhere is under study here."""
    DAMAGED = "damaged"
    """Files of the run are not as they were written."""
    CRASHED = "crashed"
    """The gate failed to run."""
    WRITTEN = "written"
    """Records before version 4 hold sentences."""


class Reading(Value):
    """One value that a gate saw or allows."""

    what: str
    """Such as `busy` or `operations`; the gate's name tells the rest."""
    value: Annotated[float, Field(allow_inf_nan=False)] | str
    unit: str = ""
    """`share`, `s`, `B`, `op/s`; empty for counts and for texts."""
    where: str = ""
    """Host, address or kind that it is of."""
    member: str = ""
    """Member or unit on that host, `all` for the host as a whole; empty where none is meant."""


class CheckResult(Value):
    """One validity gate: its verdict, what was seen and what would have been accepted."""

    check: str
    status: Status
    why: Why
    seen: tuple[Reading, ...] = ()
    allowed: tuple[Reading, ...] = ()
    used: float | None = None
    """How much of the bound was used: from 1 on the gate fires. None where that is no number."""

    @property
    def unseen(self) -> bool:
        """Whether it could not judge what nobody sees, which does not stand against a run."""
        return self.why is Why.UNSEEN

    @classmethod
    def written(cls, sentence: str) -> CheckResult:
        """What only a sentence tells; of no gate."""
        seen = (Reading(what="sentence", value=sentence),)
        return cls(check="", status=Status.UNKNOWN, why=Why.WRITTEN, seen=seen)

    @model_validator(mode="before")
    @classmethod
    def _from_sentences(cls, given: Any) -> Any:
        """Records before version 4 hold a sentence in `seen` and one in `bound`."""
        if not isinstance(given, Mapping) or "bound" not in given:
            return given
        kept = {key: value for key, value in given.items() if key != "bound"}
        return {
            **kept,
            "why": Why.WRITTEN,
            "seen": (Reading(what="sentence", value=str(given.get("seen", ""))),),
            "allowed": (Reading(what="sentence", value=str(given["bound"])),),
        }
