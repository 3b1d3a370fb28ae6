"""`levycollapse stationary`: what it prints and saves is what the functions give."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
import xarray as xr

import levycollapse as lc
from tests.cli.test_cli import COMMAND, _assert_one_line, strict_json
from tests.cli.test_simulate import run
from tests.conftest import REFERENCE

NAMES = ["stationary.nc", "stationary.pdf", "stationary.png", "summary.json"]


@pytest.fixture(scope="module")
def law():
    return lc.stationary_density(lc.CollapseModel.from_parameters(**REFERENCE))


def test_files_and_record_are_those_of_the_functions(here, capsys, without_saving, law):
    code, out, err = run(["stationary", "--json"], capsys)
    assert (code, err) == (0, "")
    record = strict_json(out)
    folder = here / "results" / "stationary"
    assert sorted(p.name for p in folder.iterdir()) == NAMES
    assert sorted(record.pop("files")) == [f"results/stationary/{name}" for name in NAMES]
    assert strict_json((folder / "summary.json").read_text()) == record
    assert record["parameters"] == {**REFERENCE, "center": 0.0, "width": 1.0}
    assert (record["status"], record["phase"], record["tail"]["form"]) == ("CONVERGED", "CONCENTRATED", "POWER")
    assert (record["error"], record["tail_error"]) == (law.error, law.tail_error)
    assert record["beta"] == lc.spectral_exponent(**REFERENCE)
    for name in ("rate", "log_power", "loglog_power", "prefactor"):
        assert record["tail"][name] == getattr(law.tail, name)
    assert record["mean_timescale"] == law.mean_timescale
    for row in record["quantiles"]:
        assert row["zeta"] == pytest.approx(law.ppf(row["level"]), abs=1e-12)
        assert law.cdf(-np.log(row["tau"])) == pytest.approx(1.0 - row["level"], abs=1e-12)
    with xr.open_dataset(folder / "stationary.nc", engine="h5netcdf") as data:
        np.testing.assert_array_equal(data["zeta"], law.zeta)
        np.testing.assert_array_equal(data["density"], law.density)
        np.testing.assert_array_equal(data["distribution"], law.cdf(law.zeta))
        np.testing.assert_array_equal(data["timescale_density"], law.timescale_pdf(data["tau"].values))
        # The grid is logarithmic and leaves nothing out that matters.
        steps = np.diff(np.log(data["tau"].values))
        np.testing.assert_allclose(steps, steps[0], rtol=1e-9)
        tau = data["tau"].values
        assert np.trapezoid(data["timescale_density"].values * tau, np.log(tau)) == pytest.approx(1.0, abs=1e-6)
        assert json.loads(data.attrs["parameters"]) == record["parameters"]
        assert data.attrs["status"] == "CONVERGED"


def test_text_answer_and_every_option(here, capsys, without_saving):
    code, out, _ = run(
        [
            *("stationary", "--kappa", "0.8", "--kappa-right", "2", "--center", "0.5", "--drift-width", "0.7"),
            *("--lam", "2"),
            *("--rtol", "1e-6", "--method", "fourier", "-o", "out"),
        ],
        capsys,
    )
    assert code == 0
    model = lc.CollapseModel(lc.SaturatingDrift(0.8, 0.5, 0.7, 2.0), 0.1, lc.TemperedStable(1.5, 2.0, 0.62))
    law = lc.stationary_density(model, method="fourier", rtol=1e-6)
    lines = dict(line.split(None, 1) for line in out.splitlines() if "  " in line.strip())
    assert lines["status"] == "CONVERGED"
    assert float(lines["beta"]) == pytest.approx(model.beta, rel=1e-13)
    assert lines["tail"].endswith(f"prefactor {law.tail.prefactor:.15g}")
    assert f"zeta {law.ppf(0.5):.6g}" in lines["0.5"]
    assert "out/summary.json" in out
    assert "nan" not in out


def test_below_threshold_and_without_tempering(here, capsys, without_saving):
    run(["stationary", "--eta-J", "0.1", "--json"], capsys)
    record = strict_json((here / "results/stationary/summary.json").read_text())
    assert (record["beta"], record["phase"], record["tail"]["form"]) == (None, "COLLAPSED", "TEMPERED")
    code, out, _ = run(["stationary", "--lam", "0", "--json"], capsys)
    assert code == 0
    record = strict_json(out)
    assert (record["status"], record["phase"]) == ("DISCRETISED", "LOGARITHMIC")
    assert (record["mean_timescale"], record["tail_error"]) == ("inf", None)
    # Time scales that no double holds.
    assert record["quantiles"][-1]["tau"] == "inf"
    with xr.open_dataset(here / "results/stationary/stationary.nc", engine="h5netcdf") as data:
        assert np.isfinite(data["timescale_density"]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--alpha", "2"], "alpha=2.0 must be a number strictly between 0 and 2"),
        (["--eta-J", "-1"], "eta_J=-1.0 must be a finite number >= 0"),
        (["--eta-J", "0", "--eta-G", "0"], "without noise"),
        (["--kappa", "x"], "kappa='x' must be a number"),
        (["--kappa-right", "0"], "kappa_right=0.0 must be"),
        (["--drift-width", "-1"], "width=-1.0 must be"),
        (["--center", "inf"], "center='inf' must be finite"),
        (["--rtol", "0"], "rtol=0.0 must be"),
        (["--rtol", "1e-30"], "the stationary density was found to"),
        (["--method", "guess"], "method='guess' must be one of"),
        (["--lam", "0", "--method", "fourier"], "use method='chain'"),
        (["--lam", "0", "--alpha", "0.8"], "stationary"),
        (["-o", "file"], "output='file' is a file; it must be a folder"),
        (["-o", "file/below"], "Not a directory"),
    ],
)
def test_errors_are_one_line(arguments, message, here, capsys):
    (here / "file").write_text("mine")
    code, out, err = run(["stationary", *arguments], capsys)
    assert code == 2
    _assert_one_line(out, err, message)
    assert [p.name for p in here.rglob("*") if p.is_file()] == ["file"]


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
        (OSError(28, "No space left on device", "x.png"), 2, "No space left on device: x.png"),
    ],
)
def test_all_files_or_none(here, capsys, monkeypatch, failure, code, message):
    """The files of an earlier run stay as they were when a later one stops between the first file and the last."""

    def stop(*arguments):
        raise failure

    folder = here / "results" / "stationary"
    folder.mkdir(parents=True)
    for name in NAMES:
        (folder / name).write_text("of an earlier run")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr("levycollapse.plotting.save_figure", stop)
    found, out, err = run(["stationary"], capsys)
    assert found == code
    _assert_one_line(out, err, message)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_errors_through_the_command(tmp_path):
    """A whole run through the command is the example of its help, in test_cli."""
    arguments = ["stationary", "--kappa-right", "0"]
    result = subprocess.run([COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    _assert_one_line(result.stdout, result.stderr, "kappa_right=0.0 must be")
    assert not list(tmp_path.iterdir())


def test_accuracy_warning_is_one_line(here, capsys):
    code, _, err = run(["stationary", "--eta-G", "0", "--alpha", "0.2", "--eta-J", "0.01"], capsys)
    assert code == 0
    assert err.startswith("levycollapse: warning: the Fourier method failed") and err.count("\n") == 1


@pytest.mark.parametrize("option", ["--kappa", "--eta-G", "--eta-J", "--lam", "--drift-width"])
@pytest.mark.parametrize("value", ["1e300", "1e-300"])
def test_numbers_that_overflow_are_refused(here, capsys, option, value):
    """Overflow warnings and division by zero came out instead of an answer."""
    code, out, err = run(["stationary", option, value], capsys)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1 and "must be between 1e-30 and 1e+30" in err
