# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the descriptions of exceptions in algorithms: class, hook, exception, file and line."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.contract.link import FakeLink
from sfc_testbed.hosts.crash import engine_crash, error_summary, print_crash
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS, AckSample, CongestionControl
from sfc_testbed.hosts.transport.settings import TransportSettings


class _Divides(CongestionControl):
    """A congestion control that raises an exception in a method that its hook calls."""

    __slots__ = ()

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        self._halve(0)

    def _halve(self, parts: int) -> None:
        self.window_bytes = self.path.bdp_bytes // parts


class _Stops(CongestionControl):
    """A congestion control that sets a rate that the engine rejects."""

    __slots__ = ()

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        self.rate_bps = 0


def _crash(control: type[CongestionControl], monkeypatch: pytest.MonkeyPatch) -> Exception:
    monkeypatch.setitem(CONGESTION_CONTROLS._rows, "mine", control)
    link = FakeLink(TransportSettings(congestion="mine"))
    link.transfer(500_000)
    with pytest.raises((ArithmeticError, ValueError)) as caught:
        link.run()
    return caught.value


def test_the_description_names_class_exception_file_and_line(monkeypatch: pytest.MonkeyPatch) -> None:
    error = _crash(_Divides, monkeypatch)
    line = inspect.getsourcelines(_Divides._halve)[1] + 1
    assert (
        engine_crash(error) == f"_Divides._halve raised ZeroDivisionError: {error} (tests/hosts/test_crash.py:{line})"
    )


def test_an_exception_of_the_engine_itself_is_described_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    description = engine_crash(_crash(_Stops, monkeypatch))
    assert description is not None
    assert description.startswith("Pacing._gap_ns raised ValueError: _Stops set rate_bps to 0; the least is 1 (hosts/")


def test_an_exception_from_elsewhere_is_not_described(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ValueError("a bad word")
    except ValueError as error:
        assert engine_crash(error) is None
        assert not print_crash(error)
    assert capsys.readouterr().err == ""


def test_a_log_ends_with_the_description(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    error = _crash(_Divides, monkeypatch)
    assert print_crash(error)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-1] == engine_crash(error)


def test_a_missing_source_file_leaves_only_the_function_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gone.py"
    names: dict[str, Any] = {"Base": CongestionControl}
    text = "class Mine(Base):\n    __slots__ = ()\n    def on_ack(self, sample, now_ns):\n        1 // 0\n"
    exec(compile(text, str(path), "exec"), names)
    error = _crash(names["Mine"], monkeypatch)
    assert engine_crash(error) == f"on_ack raised ZeroDivisionError: {error} ({path}:4)"


class _Silent(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("x"), "KeyError: 'x'"),
        (ValueError("one\ntwo"), "ValueError: one"),
        (AssertionError(), "AssertionError"),
        (_Silent(), "_Silent"),
    ],
)
def test_the_summary_is_the_kind_and_the_first_line_of_the_text(error: Exception, words: str) -> None:
    assert error_summary(error) == words
