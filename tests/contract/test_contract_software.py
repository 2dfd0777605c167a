"""What everyone who obtains software must do."""

from __future__ import annotations

import pytest
from cases import SoftwareCase

from dunnage.errors import UnavailableError
from dunnage.model.layout import Software


class TestSoftwareStore:
    def test_a_tree_is_the_same_however_often_it_is_asked_for(
        self, software_case: SoftwareCase
    ) -> None:
        first = software_case.store().tree(software_case.software)
        assert first == software_case.store().tree(software_case.software)
        assert first.software == software_case.software

    def test_a_tree_has_one_place_on_every_host_and_says_where_it_came_from(
        self, software_case: SoftwareCase
    ) -> None:
        tree = software_case.store().tree(software_case.software)
        assert tree.prefix.startswith("/")
        assert software_case.software.name in tree.tag
        assert tree.facts

    @pytest.mark.parametrize("name", ["nothing", ""])
    def test_what_it_does_not_know_is_unavailable_with_a_reason(
        self, software_case: SoftwareCase, name: str
    ) -> None:
        with pytest.raises(UnavailableError) as refused:
            software_case.store().tree(Software(name, software_case.software.version))
        assert str(refused.value)
        assert refused.value.hint

    def test_another_version_is_not_taken_for_the_one_asked_for(
        self, software_case: SoftwareCase
    ) -> None:
        with pytest.raises(UnavailableError):
            software_case.store().tree(Software(software_case.software.name, "0.0"))
