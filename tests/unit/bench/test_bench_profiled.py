"""A profile of the engine, by lines that `perf` printed of one under a load of Cassandra."""

from __future__ import annotations

from collections import Counter

import pytest
from engine.parts import Part, part, samples
from engine.profiled import page

REPORTED = """\
# Samples: 7K of event 'cpu-clock'
# Samples ;Shared Object    ;Symbol
#
 641        ;[kernel.kallsyms];[k] finish_task_switch.isra.0
 633        ;dunnage-engine   ;[.] __memmove_avx512_unaligned_erms
 420        ;dunnage-engine   ;[.] scylla::client::session::Session::execute_unpaged_nongeneric::{{closure}}
 323        ;dunnage-engine   ;[.] __malloc
 175        ;[vdso]           ;[.] __vdso_clock_gettime
"""  # noqa: E501


def test_samples_are_sorted_by_what_their_functions_are_for() -> None:
    assert samples(REPORTED) == Counter(
        {Part.KERNEL: 641, Part.COPYING: 633, Part.DRIVER: 420, Part.MEMORY: 323, Part.LOAD: 175}
    )


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("malloc_consolidate", Part.MEMORY),
        ("_int_free", Part.MEMORY),
        ("free", Part.MEMORY),
        ("unlink_chunk.constprop.0", Part.MEMORY),
        ("__libc_calloc", Part.MEMORY),
        ("freeze_things", Part.OTHER),
        ("dunnage_engine::drive::redis::lane::Lane::ask::{{closure}}", Part.DRIVER),
        ("dunnage_engine::load::core::values::Values::value", Part.LOAD),
        ("hdrhistogram::Histogram<T>::saturating_record", Part.LOAD),
        ("tokio::runtime::task::raw::poll", Part.RUNTIME),
        ("<core::pin::Pin<P> as core::future::future::Future>::poll", Part.RUNTIME),
        ("core::str::converts::from_utf8", Part.OTHER),
    ],
)
def test_a_function_belongs_to_the_part_that_its_name_tells(function: str, expected: Part) -> None:
    assert part(False, function) is expected
    assert part(True, function) is Part.KERNEL


def test_the_page_has_the_share_of_each_part_and_how_many_samples_there_were() -> None:
    text = page([("Cassandra, C", samples(REPORTED))], 204_800)
    assert "| Cassandra, C | 29% | 19% | 0% | 15% | 29% | 8% | 0% | 2,192 |" in text
    assert "\n- operations of each load: 204,800\n" in text
