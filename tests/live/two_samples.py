"""Whether two samples may be of one distribution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency

_LEAST = 40
"""Values that both samples together have less often are counted with their neighbours."""


def likelihood(one: Iterable[Any], other: Iterable[Any]) -> float:
    """How likely it is that two samples of one distribution differ at least as much as these.

    Pearson's test of homogeneity. Values are ordered, so that neighbours are those next in order.
    """
    first, second = Counter(one), Counter(other)
    if not first or not second:
        return float(first == second)
    cells = [[0, 0]]
    for value in sorted(first.keys() | second.keys()):
        if sum(cells[-1]) >= _LEAST:
            cells.append([0, 0])
        cells[-1][0] += first[value]
        cells[-1][1] += second[value]
    if len(cells) > 1 and sum(cells[-1]) < _LEAST:
        rest = cells.pop()
        cells[-1] = [kept + more for kept, more in zip(cells[-1], rest, strict=True)]
    if len(cells) == 1:
        return 1.0
    return float(chi2_contingency(np.array(cells), correction=False).pvalue)
