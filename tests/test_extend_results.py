# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plots, sections, quantities, claims and export formats of a user's file, on the results of small runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl
import pytest
from matplotlib.figure import Figure

import sfc_testbed as sfc
from sfc_testbed.analysis.report.html_pages import write_comparison_report, write_run_report
from sfc_testbed.analysis.report.placing import on_page, placed_plots
from sfc_testbed.analysis.report.plots import RUN_PLOTS
from sfc_testbed.analysis.report.sweep import write_sweep_page
from sfc_testbed.analysis.results.comparison import read_comparison
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.cli.app import main
from sfc_testbed.reproduction.own_claims import claims_of_extensions, judged
from sfc_testbed.request.errors import UsageError
from tests.analysis.report.reading import plots_of
from tests.extended import nothing_remains

pytestmark = pytest.mark.usefixtures("no_extensions")

MINE = """\
import sfc_testbed as sfc


@sfc.plot("sizes", "Sizes of the flows.")
def sizes(run, axes):
    axes.hist(run.flows["size_bytes"].to_numpy())


@sfc.plot("windows", "Windows.", needs=["cc"])
def windows(run):
    raise RuntimeError("the trace cc has no rows, so this does not happen")


@sfc.plot("both", "FCT of all runs.", page="comparison")
def both(runs, axes):
    for label, run in runs.items():
        axes.plot(sorted(run.flows["fct_us"]), label=label)


@sfc.plot("jobs", "All jobs.", page="sweep")
def jobs(sweep, axes):
    axes.plot(sweep.results["slowdown_p50"])


@sfc.section("words", "My words")
def words(run):
    return f"<b>{run.flows.height} flows</b>\\n\\nmore"


@sfc.section("frame", "My frame")
def frame(run):
    return run.flows.group_by("tag").len()


@sfc.quantity("half-life", unit="µs")
def half_life(run):
    return run.flows["fct_us"].median()


@sfc.quantity("of-sfc")
def of_sfc(run):
    return 3 if run.result.scheme == "sfc" else None


sfc.claims(
    sfc.Bound("the median FCT is short", "1 s", half_life, "sfc", at_most=1e6),
    sfc.Ratio("the buffer is not larger", "1", "peak buffer", "sfc", "irn", at_most=1.0),
)


@sfc.export_format("ids", "IDs of flows")
def ids(run, folder):
    path = folder / "ids.txt"
    path.write_text("\\n".join(map(str, run.flows["flow_id"])))
    return path
"""
HEAD = "import sfc_testbed as sfc\n"
_YAML = """
name: little
scenario: incast
clock: virtual
schemes: [sfc]
settings: {message_bytes: 20000}
axes: {degree: [2, 3]}
"""


@pytest.fixture
def use(tmp_path: Path) -> Callable[[str], None]:
    """Return a function that writes a user's file and loads it."""

    def write(text: str) -> None:
        (tmp_path / "mine.py").write_text(text)
        sfc.use(tmp_path / "mine.py")

    return write


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Execute an incast under two schemes, without an extension."""
    out = tmp_path_factory.mktemp("runs")
    settings = {"degree": 4, "message_bytes": 100_000}
    return [
        sfc.run("incast", scheme, settings=settings, out=out, quiet=True).folder.absolute() for scheme in ("irn", "sfc")
    ]


def test_a_page_shows_plots_sections_and_quantities_and_is_as_before_without_them(
    folders: list[Path], use: Callable[[str], None]
) -> None:
    before = write_run_report(folders[1]).read_bytes()
    use(MINE)
    failures: list[str] = []
    page = write_run_report(folders[1], pictures=True, failures=failures).read_text()
    assert failures == []
    assert "Sizes of the flows." in page and 'href="sizes.png"' in page and (folders[1] / "sizes.png").is_file()
    assert "Windows." not in page
    assert "&lt;b&gt;4 flows&lt;/b&gt;" in page and "<b>4 flows" not in page
    assert page.index("My words") < page.index("My frame")
    assert "half-life (µs)" in page
    run = sfc.load(folders[1])
    assert isinstance(run, sfc.Run)
    assert run.quantities == {"half-life": run.flows["fct_us"].median(), "of-sfc": 3}
    assert "sizes" in run.plot()
    with nothing_remains():
        pass
    for picture in [*folders[1].glob("*.png"), *folders[1].glob("*.svg")]:
        picture.unlink()
    assert write_run_report(folders[1]).read_bytes() == before


def test_an_error_in_a_function_is_a_sentence_on_the_page(folders: list[Path], use: Callable[[str], None]) -> None:
    use(
        HEAD + "@sfc.plot('broken', 'Mine.')\ndef broken(run, axes):\n    axes.plot(run.flows['nothing'])\n"
        "@sfc.plot('text', 'Mine.')\ndef text(run):\n    return 'text'\n"
        "@sfc.section('wrong')\ndef wrong(run):\n    return 1 / 0\n"
        "@sfc.quantity('none')\ndef none(run):\n    return 'much'\n"
    )
    failures: list[str] = []
    page = write_run_report(folders[0], failures=failures).read_text()
    assert [failure.split(":")[0] for failure in failures] == [
        "Plot broken failed",
        "Plot text failed",
        "Section wrong failed",
    ]
    assert "mine.py:4)" in failures[0]
    assert "instead of a figure" in failures[1] and "mine.py:5)" in failures[1]
    assert "Plot broken failed" in page and "Section wrong failed" in page and "Quantity none failed" in page
    assert "Buffer occupancy" in page
    with pytest.warns(UserWarning) as caught:
        assert "buffer" in sfc.Run(folders[0]).plot()
    assert [str(warning.message) for warning in caught] == failures[:2]
    with pytest.warns(UserWarning, match="instead of a number"):
        assert sfc.Run(folders[0]).quantities == {"none": None}


def test_a_comparison_has_quantities_claims_and_plots(
    folders: list[Path], use: Callable[[str], None], tmp_path: Path
) -> None:
    use(MINE)
    held = judged(claims_of_extensions(), folders)
    assert [claim.holds for claim in held] == [True, True]
    page = write_comparison_report(folders, tmp_path / "out", held, pictures=True).read_text()
    assert "FCT of all runs." in page and (tmp_path / "out" / "both.png").is_file()
    stored, _ = read_comparison(tmp_path / "out")
    values = {(row.name, row.label): row.value for row in stored.quantities}
    assert values["of-sfc", "irn"] is None and values["of-sfc", "sfc"] == 3
    assert "half-life (µs)" in page and "the median FCT is short" in page


def test_quantities_are_columns_of_a_sweep_that_stay_without_the_extension(
    use: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(MINE)
    (tmp_path / "sweep.yaml").write_text(_YAML)
    sweep = sfc.sweep(tmp_path / "sweep.yaml", out=tmp_path, quiet=True)
    assert sweep.results["quantity.of-sfc"].to_list() == [3.0, 3.0]
    assert "half-life-over-degree" in sweep.plot() and "jobs" in sweep.plot()
    assert "half-life (µs)" in sweep.table().headings
    with nothing_remains():
        pass
    page = write_sweep_page(sweep.folder).read_text()
    assert "half-life over degree." in page and "All jobs." not in page
    use(HEAD + "@sfc.quantity('later')\ndef later(run):\n    return run.flows.height\n")
    assert main(["report", str(sweep.folder), "--use", str(tmp_path / "mine.py")]) == 0
    assert pl.read_csv(sweep.folder / "results.csv")["quantity.later"].to_list() == [2.0, 3.0]
    capsys.readouterr()


def test_an_export_format_writes_into_a_folder_of_its_name(
    folders: list[Path], use: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    use(MINE)
    assert main(["export", str(folders[0]), "--format", "ids"]) == 0
    path = folders[0] / "ids" / "ids.txt"
    assert capsys.readouterr().out == f"{path}\n"
    assert len(path.read_text().split()) == 4
    assert main(["export", str(folders[0]), "--format", "id"]) == 2
    assert "choose from hpcc, networkx, perfetto, tofino2, ids; nearest: ids" in capsys.readouterr().err
    use(HEAD + "@sfc.export_format('bad')\ndef bad(run, folder):\n    return [folder / run.nothing]\n")
    assert main(["export", str(folders[0]), "--format", "bad", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "export bad failed: AttributeError" in error and "mine.py:4)" in error and error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@sfc.plot('buffer', 'Mine.')\ndef one(run): ...", "plot of a run 'buffer': the testbed has one"),
        ("@sfc.plot('one', 'Mine.', page='runs')\ndef one(run): ...", "no page 'runs'; choose from run, comparison"),
        ("@sfc.plot('one', 'Mine.', needs=['ccs'])\ndef one(run): ...", "no trace 'ccs'; choose from .*; nearest: cc"),
        ("sfc.quantity('one')(3)", "quantity 'one': 3 is not a function"),
        ("sfc.claims('one')", "claims: 'one' is not a claim"),
        ("@sfc.export_format('hpcc')\ndef one(run, folder): ...", "export format 'hpcc': the testbed has one"),
    ],
)
def test_a_wrong_registration_is_refused_in_one_line(use: Callable[[str], None], text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        use(f"{HEAD}{text}\n")
    assert "\n" not in str(error.value) and "line 2" in str(error.value)


def test_a_claim_about_an_unknown_quantity_is_refused(use: Callable[[str], None]) -> None:
    use(HEAD + "sfc.claims(sfc.Bound('short', '1', 'peak bufer', 'sfc', at_most=1))\n")
    with pytest.raises(UsageError, match=r"claim 'short': no quantity 'peak bufer'; .*nearest: peak buffer"):
        claims_of_extensions()


def test_a_figure_with_another_layout_than_a_grid_becomes_an_image(
    folders: list[Path], use: Callable[[str], None], tmp_path: Path
) -> None:
    use(
        HEAD + "import matplotlib.pyplot as plt\n"
        "@sfc.plot('twin', 'Mine.')\ndef twin(run):\n"
        "    figure, axes = plt.subplots()\n    axes.twinx()\n    return figure\n"
        "@sfc.plot('plain', 'Mine.')\ndef plain(run):\n    return plt.subplots(1, 2)[0]\n"
    )
    run = load_run(folders[0])
    placed = [plot for plot in placed_plots(RUN_PLOTS, run, [run]) if plot.name in ("twin", "plain")]
    twin, plain = (str(shown["drawn"]) for shown in on_page(tmp_path, placed, pictures=False))
    assert twin.startswith('<img alt="Mine."') and "<svg" in plain
    assert plt.get_fignums() == []


def test_a_plot_may_be_a_description(folders: list[Path], use: Callable[[str], None], tmp_path: Path) -> None:
    use(
        HEAD + "import numpy as np\n"
        "from sfc_testbed.analysis.plots.description import Axis, Line, Plot, PlotPanel\n"
        "from sfc_testbed.analysis.plots.palette import numbered_looks\n"
        "@sfc.plot('rising', 'Mine.')\ndef rising(run):\n"
        "    line = Line('</script>', numbered_looks(1)[0], np.arange(3.0), np.arange(3.0))\n"
        "    return Plot([PlotPanel('Rising', Axis('x', 0, 2), Axis('y', 0, 2), [line])])\n"
    )
    page = write_run_report(folders[0], pictures=True).read_text()
    [panel] = plots_of(page)[-1]["panels"]
    assert (panel["title"], panel["items"][0]["label"]) == ("Rising", "</script>")
    assert (folders[0] / "rising.png").is_file()
    assert isinstance(sfc.load(folders[0]).plot("rising"), Figure)


def test_a_process_that_loads_a_file_with_plots_and_claims_imports_nothing_slow(tmp_path: Path) -> None:
    """Hosts of live runs load extensions, and there may be a hundred of them."""
    (tmp_path / "mine.py").write_text(MINE)
    script = (
        "import sys; from sfc_testbed.request.extensions import use; use(sys.argv[1])\n"
        "print([name for name in ('matplotlib', 'numpy', 'polars', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "mine.py")], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
