"""Names of secrets that the engine knows, too."""

from __future__ import annotations

import json
from pathlib import Path

from dunnage.secrets.names import names_a_secret

GOLDEN = Path(__file__).parents[3] / "crates/engine/tests/golden/secret_names.json"
"""`front/secrets.rs` reads the same."""


def test_names_of_options_are_secrets_here_as_in_the_engine() -> None:
    golden = json.loads(GOLDEN.read_text())
    for sort, names in golden.items():
        for name in names:
            assert names_a_secret(name, setting=True) == (sort == "secret"), name
