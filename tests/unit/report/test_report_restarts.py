"""Restarts of the programs of a lab's Kubernetes in words, and where they are told."""

from __future__ import annotations

from dataclasses import replace

from test_report_page import Elements, rendered
from test_report_text import shown

from dunnage.findings.restarts.sentences import stays_with_restarts
from dunnage.model.record import Restart
from dunnage.model.remarks import Restarted
from dunnage.report.terminal.brief import brief
from dunnage.report.terminal.text import answer_table
from report_samples import Sample, sample

API = Restart(host="control-1", program="kube-apiserver", code=-9, time=1.0)
KUBELET = Restart(host="db-1", program="kubelet", code=-9, time=2.0)


def hurt(*found: Restarted) -> Sample:
    made = sample()
    return replace(made, analysis=made.analysis.model_copy(update={"restarted": found}))


def stay(deployment: str, block: int, *restarts: Restart) -> Restarted:
    return Restarted(
        stay=f"b{block}-{deployment}", block=block, deployment=deployment, restarts=restarts
    )


def test_each_deployment_is_told_with_its_programs_and_stays() -> None:
    made = hurt(
        stay("native", 1, API, API.model_copy(update={"time": 5.0})),
        stay("docker-bridge", 2, KUBELET),
        stay("docker-bridge", 3, API, KUBELET),
    )
    assert stays_with_restarts(made.analysis.restarted) == (
        "native: programs that it stands on were restarted: kube-apiserver on control-1 (stay "
        "b1-native, 2 times)",
        "docker-bridge: programs that it stands on were restarted: kube-apiserver on control-1 "
        "(stay b3-docker-bridge), kubelet on db-1 (stay b2-docker-bridge), kubelet on db-1 (stay "
        "b3-docker-bridge)",
    )
    assert stays_with_restarts(()) == ()


def test_the_short_answer_the_long_one_and_the_page_tell_it_and_only_then() -> None:
    told = "programs that it stands on were restarted: kube-apiserver on control-1 (stay b1-native)"
    for made, is_told in ((hurt(stay("native", 1, API)), True), (sample(), False)):
        given = made.analysis, made.study, made.plan
        texts = (
            shown(brief(*given), 300),
            shown(answer_table(*given), 300),
            " ".join(" ".join(Elements(rendered(made)).text).split()),
        )
        assert [told in text for text in texts] == [is_told] * 3
