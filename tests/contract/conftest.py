"""Fixtures that run every contract test over every implementation in `implementations.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cases import (
    DatabaseCase,
    GeneratorCase,
    Ground,
    SamplerCase,
    SoftwareCase,
    SubstrateCase,
    TestbedCase,
    ground,
    unique,
)
from implementations import (
    DATABASES,
    GENERATORS,
    PLATFORMS,
    SAMPLERS,
    SOFTWARE,
    SUBSTRATES,
    TESTBEDS,
)

from dunnage.contracts.host import Host
from dunnage.contracts.testbed import Testbed


@pytest.fixture(params=TESTBEDS)
def testbed_case(request: pytest.FixtureRequest) -> TestbedCase:
    case: TestbedCase = request.param
    return case


@pytest.fixture
def testbed(testbed_case: TestbedCase) -> Iterator[Testbed]:
    with testbed_case.open(unique()) as opened:
        yield opened


@pytest.fixture
def host(testbed: Testbed) -> Host:
    return testbed.group("db")[0]


@pytest.fixture(params=PLATFORMS, scope="module")
def grounds(request: pytest.FixtureRequest) -> Iterator[Ground]:
    # Daemons take seconds to start; each test makes a stay of its own on them.
    with ground(request.param) as opened:
        yield opened


@pytest.fixture(params=DATABASES)
def database_case(request: pytest.FixtureRequest) -> DatabaseCase:
    case: DatabaseCase = request.param
    return case


@pytest.fixture(params=GENERATORS)
def generator_case(request: pytest.FixtureRequest) -> GeneratorCase:
    case: GeneratorCase = request.param
    return case


@pytest.fixture(params=SAMPLERS)
def sampler_case(request: pytest.FixtureRequest) -> SamplerCase:
    case: SamplerCase = request.param
    return case


@pytest.fixture(params=SUBSTRATES, scope="module")
def substrate_case(request: pytest.FixtureRequest) -> SubstrateCase:
    case: SubstrateCase = request.param
    return case


@pytest.fixture(params=SOFTWARE)
def software_case(request: pytest.FixtureRequest) -> SoftwareCase:
    case: SoftwareCase = request.param
    return case
