# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of message size distributions: files match the published numbers, and samples follow the distributions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.scenarios.traffic.distribution import Knot, SizeError, from_knots
from sfc_testbed.scenarios.traffic.sizes import WORKLOADS, load_sizes, parse_sizes

# Exact means of the linear interpolation of the published tables, in bytes.
PUBLISHED_MEANS = {
    "hadoop": 120_420.75,
    "websearch": 1_711_250.0,
    "storage": 40_869.8,
    "rpc": 2_891.62,
    "solar": 39_423.904515,
    "cache": 935_632.5,
    "data-mining": 12_658_198.6,
}

# Points of Google's published table of 843, from all over it: size, cumulative percent.
GOOGLE_POINTS = (
    (3, 6.48826),
    (32, 9.73239),
    (36, 10.8913),
    (64, 15.5271),
    (128, 35.1573),
    (512, 78.4921),
    (1024, 86.32),
    (16384, 98.4694),
    (524288, 99.9498),
    (15158197, 100.0),
)


@pytest.mark.parametrize("name", WORKLOADS)
def test_exact_mean_is_the_published_one(name: str) -> None:
    """Loads are computed from this mean. Google's percentages are rounded, which changes the mean by up to 0.05 %."""
    tolerance = 5e-4 if name == "rpc" else 1e-9
    assert load_sizes(name).mean_bytes == pytest.approx(PUBLISHED_MEANS[name], rel=tolerance)


@pytest.mark.parametrize("name", WORKLOADS)
def test_sample_mean_is_within_sampling_error(name: str) -> None:
    sizes = load_sizes(name)
    samples = sizes.sample(200_000, np.random.default_rng(5))
    error = samples.std() / np.sqrt(samples.size)
    assert abs(samples.mean() + 0.5 - sizes.mean_bytes) < 4 * error
    assert samples.min() >= 1
    assert samples.max() <= sizes.sizes[-1]


def test_rpc_table_has_the_published_points() -> None:
    """The table has 843 points. Its percentages agree with the published ones within their rounding."""
    rpc = load_sizes("rpc")
    assert len(rpc.sizes) == 843
    percent_of_size = dict(zip(rpc.sizes, rpc.percents, strict=True))
    for size, percent in GOOGLE_POINTS:
        assert percent_of_size[size] == pytest.approx(percent, abs=1e-4)


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=12, unique=True),
    st.lists(st.floats(0.01, 99.9), min_size=1, max_size=12),
    st.integers(0, 2**32),
)
@settings(max_examples=50, deadline=None)
def test_samples_follow_any_distribution(sizes: list[int], percents: list[float], seed: int) -> None:
    count = min(len(sizes), len(percents))
    rising = zip(sorted(sizes)[:count], sorted(percents)[:count], strict=True)
    knots = [Knot(0, 0.0), *(Knot(size, percent) for size, percent in rising), Knot(10**7, 100.0)]
    # Sizes are multiplied by 1000, so that rounding down to whole bytes changes no share.
    distribution = from_knots("any", [Knot(1000 * knot.size_bytes, knot.percent) for knot in knots])
    samples = distribution.sample(4_000, np.random.default_rng(seed))
    for knot in knots[1:]:
        assert abs((samples <= 1000 * knot.size_bytes).mean() - knot.percent / 100) < 0.05


def test_a_file_of_either_format_is_a_workload(tmp_path: Path) -> None:
    hpcc_file, csv_file = tmp_path / "cdf.txt", tmp_path / "mine.csv"
    hpcc_file.write_text("0 0\n1000 50\n3000 100\n")
    csv_file.write_text(
        "\ufeff# mine, with a byte order mark\nsize_bytes,cumulative_percent,steps\n0,0,1\n1000,50,1\n3KB,100,1\n"
    )
    assert load_sizes(str(hpcc_file)).mean_bytes == load_sizes(str(csv_file)).mean_bytes == 1250


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "first row must be"),
        ("size_bytes,cumulative_percent,steps\n", "at least one row"),
        ("size_bytes,cumulative_percent,steps\n0,0,1\n5,90,1\n", "line 3 ends at 90; the last share must be 100"),
        ("size_bytes,cumulative_percent,steps\n0,0,1\n4095.999,100,1\n", "line 3: not a row of three numbers"),
        ("size_bytes,cumulative_percent,steps\n0,0,1\n9,50,1\n5,100,1\n", "line 4 is below line 3"),
        (
            "size_bytes,cumulative_percent,steps\n0,0,1\nmany,100,1\n",
            "line 3: not a row of three numbers: 'many,100,1'",
        ),
        ("# mine\n\nsize_bytes,percent\n", "line 3: the first row must be"),
        ("size_bytes,cumulative_percent,steps\n0,0,4\n9,100,1\n", "line 2 has an invalid number of steps"),
    ],
)
def test_an_invalid_table_is_refused(text: str, words: str) -> None:
    with pytest.raises(SizeError, match=words):
        parse_sizes("mine", text.splitlines())


def test_an_unknown_workload_name_lists_the_known_ones() -> None:
    with pytest.raises(SizeError, match="choose from hadoop, rpc"):
        load_sizes("facebook")
