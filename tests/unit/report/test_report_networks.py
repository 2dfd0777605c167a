"""A network that changed between the stays of a deployment, and where it is told."""

from __future__ import annotations

from dataclasses import replace

from test_report_page import Elements, rendered
from test_report_text import shown

from dunnage.model.remarks import NetworkChanged
from dunnage.report.terminal.brief import brief
from dunnage.report.terminal.text import answer_table
from report_samples import sample

CHANGED = NetworkChanged(
    deployment="docker-bridge", facts=("mtu",), first="b1-x", stays=("b2-x",), of_stays=8
)


def test_the_short_answer_the_long_one_and_the_page_tell_it_and_only_then() -> None:
    made = sample()
    analysis = made.analysis.model_copy(update={"networks_changed": (CHANGED,)})
    for each, is_told in ((replace(made, analysis=analysis), True), (made, False)):
        given = each.analysis, each.study, each.plan
        texts = (
            shown(brief(*given), 300).replace("`", ""),
            shown(answer_table(*given), 300).replace("`", ""),
            " ".join(" ".join(Elements(rendered(each)).text).split()).replace("`", ""),
        )
        told = "docker-bridge: mtu of its network differed from its first stay"
        assert [told in text for text in texts] == [is_told] * 3
