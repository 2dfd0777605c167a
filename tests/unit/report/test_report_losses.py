"""What is known of a loss of throughput stands in the terminal's details and on the page."""

from __future__ import annotations

from dunnage.model.estimate import Estimate
from dunnage.model.loss import KnownLoss
from dunnage.report.losses import losses
from report_samples import sample

LOSS = Estimate(value=0.05, low=0.0461, high=0.0538, n=400, unit="share", method="m")
FOUND = KnownLoss(asked=0.05, share=0.037, loss=LOSS, steps=())


def test_a_loss_says_what_was_asked_what_was_done_and_what_it_lost() -> None:
    made = sample().analysis.model_copy(update={"losses": {"slowed": FOUND}})
    assert losses(made) == (
        "slowed shall lose 5.0 % of throughput; stopped for 3.7 % of the time it lost 5.0 % "
        "(4.6 … 5.4 %, 400 pairs) before block 1; that was not measured again after the last block",
    )
    checked = FOUND.model_copy(update={"checked": LOSS.model_copy(update={"value": 0.052})})
    made = made.model_copy(update={"losses": {"slowed": checked}})
    assert losses(made)[0].endswith(
        "before block 1, and 5.2 % (4.6 … 5.4 %, 400 pairs) after the last"
    )


def test_where_nothing_shall_be_lost_nothing_is_said() -> None:
    assert losses(sample().analysis) == ()
