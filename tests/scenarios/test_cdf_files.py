# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of size distributions in the forms that other simulators and traffic generators publish."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.scenarios.traffic.cdf_files import format_hpcc_cdf, parse_cdf
from sfc_testbed.scenarios.traffic.distribution import SizeError
from sfc_testbed.scenarios.traffic.sizes import WORKLOADS, load_sizes

SIZES, PERCENTS = (0, 1000, 3000), (0.0, 29.0, 100.0)
FRACTIONS = "the shares end at 1 and are read as fractions, not as percentages"


@pytest.mark.parametrize("name", WORKLOADS)
def test_hpcc_cdf_is_read_back_as_written(name: str) -> None:
    """A distribution that begins with a step gets a first point one byte below it."""
    sizes = load_sizes(name)
    parsed = parse_cdf(name, format_hpcc_cdf(sizes).splitlines())
    added = int(sizes.sizes[0] == sizes.sizes[1])
    assert parsed.sizes == (*[sizes.sizes[0] - 1] * added, *sizes.sizes)
    assert parsed.percents == pytest.approx([*[0.0] * added, *sizes.percents], abs=1e-3)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("0 0\n1000 29\n3000 100\n", ""),
        ("0 0\n1000 0.29\n3000 1\n", FRACTIONS),
        ("0     0\n1000\t.29\n3000 1.0", FRACTIONS),
        ("0 0\n1000 0.29\n3000 0.9999999\n", FRACTIONS),
        ("0,0\n1000,0.29\n3000,1\n", FRACTIONS),
        ("0, 0\r\n1000, 29\r\n3000, 100\r\n", ""),
        ("0;0\n1000;29\n3000;100\n", ""),
        ("\ufeff0 0\n1000 29\n3000 100\n", ""),
        ("# sizes\n// and shares\n\n0 0\n1000 29 # small\n3000 100 // large\n\n", ""),
        ("0 0%\n1000 29%\n3000 100%\n", ""),
        ("0 0\n1KB 29\n3KB 100\n", ""),
        ("0 0\n1e3 2.9e-1\n3000.0 1e0\n", FRACTIONS),
        ("size cdf\n0 0\n1000 0.29\n3000 1\n", f"names of the columns: 'size cdf'; {FRACTIONS}"),
        ("size_bytes,percent\n0,0\n1000,29\n3000,100\n", "line 1 is taken for the names of the columns"),
        ("0 1 0\n1000 1 0.29\n3000 1 1\n", "the second of three columns is not used; sizes are read as bytes"),
        ("0 0 0\n1000 0.29 0.29\n3000 0.71 1\n", "the second of three columns is not used"),
        ("1707.4\n0 0\n1000 0.29\n3000 1\n", "line 1 has a single number, such as a mean size, and is not used"),
        ("0 0\n999.99999 29\n3000.4 100\n", "2 sizes are not whole and are rounded to the nearest byte"),
    ],
)
def test_published_forms_are_the_same_distribution(tmp_path: Path, text: str, note: str) -> None:
    """What is interpreted is stated in one line."""
    path = tmp_path / "cdf"
    path.write_text(text, newline="")
    sizes = load_sizes(str(path))
    assert (sizes.sizes, sizes.percents) == (SIZES, PERCENTS)
    assert note in (sizes.note or "")
    assert (sizes.note is None) == (not note)


@pytest.mark.parametrize(
    ("text", "sizes", "shares"),
    [
        ("3 0.25\n400 1\n", (3,), (0.25,)),  # no row with share 0: the first size has its share
        ("4096 100\n", (4096,), (1.0,)),
        ("4096 0\n4096 1\n", (4096,), (1.0,)),
        ("4095 0\n4096 0.3\n9000 0.3\n9001 1\n", (4096, 9001), (0.3, 0.7)),
        ("0 0\n0 0.1\n100 0.1\n101 1\n", (1, 101), (0.1, 0.9)),
        ("5 0\n6 1\n7 1\n1000 1\n", (6,), (1.0,)),  # rows after the last share
        ("4095.9999 0\n4096 0\n4096 1\n", (4096,), (1.0,)),
    ],
)
def test_a_step_of_the_distribution_is_a_single_size(text: str, sizes: tuple[int, ...], shares: tuple[float]) -> None:
    """There is no size between 4095 B and 4096 B, so the share of this row has 4096 B."""
    samples = parse_cdf("mine", text.splitlines()).sample(20_000, np.random.default_rng(1))
    for size, share in zip(sizes, shares, strict=True):
        assert (samples == size).mean() == pytest.approx(share, abs=0.02)


@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(1, 1000)), min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_every_size_of_a_histogram_is_drawn_as_written(pairs: list[tuple[int, int]]) -> None:
    """A histogram of single sizes, written as its cumulative distribution, gives these sizes and no others."""
    weights = dict(sorted(pairs))
    total, below, lines = sum(weights.values()), 0, []
    for size, weight in weights.items():
        lines += [f"{size} {below / total}", f"{size} {(below + weight) / total}"]
        below += weight
    sizes = parse_cdf("mine", lines)
    samples = sizes.sample(1000, np.random.default_rng(1))
    assert set(samples.tolist()) <= set(weights)
    assert sizes.mean_bytes == pytest.approx(sum(size * weight for size, weight in weights.items()) / total)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# mine\n0 0\n5\n", "line 3: not `size share`, or `size unused share`: '5'"),
        ("0 0\n15 0.47\n", "line 2 ends at 0.47; the last share must be 100 (percent) or 1 (fraction), so add a row"),
        ("1 0\n10 0.9\n100 0.999\n", "line 3 ends at 0.999; the last share must be 100 (percent) or 1 (fraction)"),
        ("0 0\n15 99.9\n", "line 2 ends at 99.9; the last share must be 100"),
        ("0 0\n0.29 1000\n1 3000\n", "line 3: the share comes first; write the size first"),
        ("0 0\n10 0.7\n20 0.3\n", "line 3 is below line 2; both columns must rise"),
        ("0 0 1\n1000 50 1\n3000 100 1\n", "need the first row size_bytes,cumulative_percent,steps"),
        ("0 0\n1000 0,29\n3000 1\n", "line 2: not `size share`"),
        ("0 0\n1000 29%\n3000 1%\n", "line 3: the last share must be 100%, not 1%"),
        ("1 0 400 0.0\n2 0 300 0.1\n", "line 1: not `size share`"),
        ("0 0\n1000 0.5\ninf 1\n", "line 3: not `size share`"),
        ("0 0\n1000000000000 1\n", "the largest size must be 1 B to 10000000000 B, not 1000000000000"),
        ("-1 0\n1000 1\n", "line 1: not `size share`"),
    ],
)
def test_an_unclear_file_is_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(SizeError) as refused:
        parse_cdf("mine", text.splitlines())
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_table_of_the_testbed_s_form_with_fractions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("size_bytes,cumulative_percent,steps\n0,0,1\n1000,0.29,1\n3000,1,1\n")
    sizes = load_sizes(str(path))
    assert (sizes.sizes, sizes.percents, sizes.notes) == (SIZES, PERCENTS, (FRACTIONS,))
