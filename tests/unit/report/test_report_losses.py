"""What is known of a loss of throughput stands in the terminal's details and on the page."""

from __future__ import annotations

from dunnage.findings.losses.losses import losses
from dunnage.model.estimate import Estimate
from dunnage.model.loss import KnownLoss
from report_samples import sample

LOSS = Estimate(value=0.05, low=0.0461, high=0.0538, n=400, unit="share", method="m")
FOUND = KnownLoss(asked=0.05, share=0.037, loss=LOSS, steps=())


def test_a_loss_says_what_was_asked_what_was_done_and_what_it_lost() -> None:
    made = sample().analysis.model_copy(update={"losses": {"slowed": FOUND}})
    assert losses(made) == (
        "slowed shall lose 5.0 % of throughput; before block 1 that took stopping its servers for "
        "3.7 % of the time: the loss was then between 4.6 and 5.4 % (400 pairs of pieces of one "
        "stay); that was not measured again after the last block",
    )


def test_a_check_says_whether_the_loss_is_still_what_was_asked_for() -> None:
    def told(**ends: float) -> str:
        checked = FOUND.model_copy(update={"checked": LOSS.model_copy(update=ends)})
        (text,) = losses(sample().analysis.model_copy(update={"losses": {"slowed": checked}}))
        return text

    assert told(value=0.052).endswith(
        "after the last block it was 5.2 %, between 4.6 and 5.4 % (400 pairs of pieces of one stay)"
    )
    assert told(value=0.06, low=0.055, high=0.065).endswith("so that this loss is not known")


def test_where_nothing_shall_be_lost_nothing_is_said() -> None:
    assert losses(sample().analysis) == ()
