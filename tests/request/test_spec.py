# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""config.json is read as it was written, also by the previous release."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.request.spec import FaultSpan, RunConfig, config_of
from tests.analysis.conftest import CONFIG

SPAN = FaultSpan(spec="loss:all,rate=1%", label="all loss 1%", begin_us=20.0, end_us=None)


@pytest.fixture
def rich() -> RunConfig:
    return replace(
        CONFIG,
        settings={"degree": 3, "switch.q_th_bdp": 1.5},
        captures=("h1", "tor1:3"),
        flow_file=Path("flows.csv"),
        faults=(SPAN.spec,),
        fault_spans=(SPAN,),
        retry_of="incast-sfc-1",
        measured_window_us=(10.0, 20.0),
    )


def test_a_configuration_is_read_as_written(rich: RunConfig) -> None:
    assert config_of(rich.to_json()) == rich


def test_a_configuration_of_the_second_schema_has_a_retry(rich: RunConfig) -> None:
    content = {**json.loads(rich.to_json()), "schema": "sfc-testbed/config/2"}
    retry_of = content.pop("retry_of")
    content["retry"] = {"of": retry_of, "dilation": rich.dilation}
    assert config_of(json.dumps(content)) == rich
    assert config_of(json.dumps({**content, "retry": None})) == replace(rich, retry_of=None)


def test_a_configuration_of_the_first_schema_lacks_only_the_typed_settings(rich: RunConfig) -> None:
    content = json.loads(rich.to_json())
    previous = {**content, "schema": "sfc-testbed/config/1", "faults": content.pop("fault_spans")}
    del previous["settings"]
    assert config_of(json.dumps(previous)) == replace(rich, settings={})


def test_fields_that_a_newer_release_added_are_ignored(rich: RunConfig) -> None:
    content = json.loads(rich.to_json())
    content["colour"] = content["physics"]["colour"] = "blue"
    assert config_of(json.dumps(content)) == rich


def test_the_release_that_wrote_a_newer_schema_is_named(rich: RunConfig) -> None:
    content = {**json.loads(rich.to_json()), "schema": "sfc-testbed/config/4", "versions": {"sfc-testbed": "7.1.0"}}
    with pytest.raises(
        ValueError, match=r"^config version 4 \(written by SFC Testbed 7\.1\.0\), this release reads 3; upgrade"
    ):
        config_of(json.dumps(content))


@pytest.mark.parametrize("text", ["{}", "[]", "3", '{"schema": "other/config/3"}', '{"schema": 3}'])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a run's configuration"):
        config_of(text)


def test_a_damaged_configuration_is_refused(rich: RunConfig) -> None:
    with pytest.raises(ValueError, match="seed"):
        config_of(rich.to_json().replace('"seed": 7', '"seed": "seven"'))
