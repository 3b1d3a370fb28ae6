"""`levycollapse learnability`: from a model and from a measured envelope."""

from __future__ import annotations

import numpy as np

import levycollapse as lc
from tests.cli.test_cli import _assert_one_line, strict_json
from tests.cli.test_simulate import read, run

NOISE = lc.StableNoise(alpha=1.7, scale=0.5, signal=1.5, level=0.01)
BANDS = ["--units", "8", "--networks", "30", "--seed", "1"]
NOISY = ["--noise-alpha", "1.7", "--noise-scale", "0.5", "--signal", "1.5", "--level", "0.01", "--power", "0.8"]


def test_from_the_model(here, capsys, without_saving):
    code, out, err = run(
        ["learnability", "--eta-J", "2", "--samples", "100:1e6:5:log", *NOISY, "--json", *BANDS],
        capsys,
    )
    assert (code, err) == (0, "")
    record = strict_json(out)
    folder = here / "results" / "learnability"
    names = ["learnability.nc", "learnability.pdf", "learnability.png", "summary.json"]
    assert sorted(p.name for p in folder.iterdir()) == names
    record.pop("files")
    assert strict_json((folder / "summary.json").read_text()) == record
    N = np.geomspace(100, 1e6, 5)
    model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=2.0, alpha=1.5, lam=3.0)
    found = lc.learnability_window(model, N, NOISE, power=0.8, width=8, n_networks=30, rng=1)
    data = read(folder / "learnability.nc")
    np.testing.assert_array_equal(data["N"], N)
    for name in ("window", "lower", "threshold", "growth_exponent", "information_window", "status"):
        np.testing.assert_array_equal(data[name], getattr(found, name))
    np.testing.assert_array_equal(data["band_window"], found.band.window)
    assert record["last"]["window"] == found.window[-1]
    assert record["last"]["status"] == "REACHED"
    assert record["phase"] == "BROAD"
    assert record["meaning"] == found.meaning


def test_from_an_envelope(here, capsys, without_saving):
    (here / "f.csv").write_text("lag,f\n1,1.0\n10,0.5\n100,0.2\n")
    code, out, _ = run(["learnability", "--f", "f.csv", *NOISY, "--samples", "1e5", "--json"], capsys)
    assert code == 0
    record = strict_json(out)
    table = ([1.0, 10.0, 100.0], [1.0, 0.5, 0.2])
    found = lc.learnability_window(table, 1e5, NOISE, power=0.8)
    assert found.status is lc.WindowStatus.BEYOND_TABLE
    assert record["last"]["window"] is None
    assert (record["last"]["status"], record["last"]["lower"]) == ("BEYOND_TABLE", 100.0)
    code, out, _ = run(
        ["learnability", "--f", "f.csv", *NOISY, "--samples", "30:1e3:4:log", "--rule", "contiguous"], capsys
    )
    assert code == 0
    assert "window: plain averaging" in out


def test_bad_input(here, capsys):
    (here / "f.csv").write_text("0.5,1.0\n10,0.5\n")
    for arguments, message in (
        (["--noise-alpha", "2.5"], "noise_alpha=2.5 must be a number in (0, 2]"),
        (["--noise-scale", "0"], "noise_scale=0.0 must be a finite number > 0"),
        (["--level", "0.7"], "level=0.7 must be"),
        (["--samples", "0.1"], "N[0]=0.1 must be a finite number >= 1"),
        (["--rule", "last"], "rule='last' must be one of"),
        (["--seed", "1"], "give --units too"),
        (["--f", "f.csv"], "f.csv: lags[0]=0.5 must be"),
        (["--f", "f.csv", "--eta-J", "2"], "does not go with --f"),
        (["--f", "none.csv"], "none.csv does not exist"),
    ):
        code, out, err = run(["learnability", *arguments], capsys)
        assert code == 2
        _assert_one_line(out, err, message)
    assert not (here / "results").exists()
