"""`levycollapse simulate`: files, continuation, interruption."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr

import levycollapse as lc
from levycollapse.cli import main
from tests.cli.test_cli import _assert_one_line

SMALL = ["--paths", "40", "--t-end", "2", "--dt", "0.1", "--seed", "3"]


def run(arguments, capsys) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


def read(path) -> xr.Dataset:
    with xr.open_dataset(path, engine="h5netcdf") as data:
        return data.load()


def test_files_hold_what_simulate_gives(here, capsys):
    code, out, _ = run(["simulate", *SMALL], capsys)
    assert code == 0
    folder = here / "results" / "simulation"
    assert sorted(p.name for p in folder.iterdir()) == ["paths.nc", "paths.pdf", "paths.png"]
    assert "40 paths, times 0 to 2, phase concentrated" in out
    model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    expected = lc.simulate(model, 40, 2.0, 0.1, scheme="strang", store_every=1, rng=3)
    np.testing.assert_array_equal(read(folder / "paths.nc")["zeta"], expected["zeta"])


def test_continuation_has_the_bits_of_one_run(here, capsys, without_saving):
    run(["simulate", *SMALL, "--store-every", 5, "-o", "whole.nc"], capsys)
    run(["simulate", *SMALL[:2], "--t-end", "1", *SMALL[4:], "--store-every", 5, "-o", "part.nc"], capsys)
    code, out, _ = run(["simulate", "--continue", "part.nc", "--t-end", "2", "-o", "rest.nc"], capsys)
    assert code == 0
    assert "times 0 to 2" in out
    xr.testing.assert_identical(
        read("whole.nc")[["zeta", "state"]].drop_attrs(), read("rest.nc")[["zeta", "state"]].drop_attrs()
    )
    # The continued file is replaced if no other is named.
    run(["simulate", "--continue", "part.nc", "--t-end", "2"], capsys)
    np.testing.assert_array_equal(read("part.nc")["zeta"], read("whole.nc")["zeta"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "x.txt"], "x.txt must end in .nc"),
        (["--continue", "missing.nc"], "missing.nc does not exist"),
        (["--continue", "broken.nc"], "broken.nc cannot be read as h5netcdf"),
        (["--continue", "other.nc"], "other.nc was not made by `levycollapse simulate`"),
        (["--continue", "other.nc", "--kappa", "2"], "kappa is taken from the file"),
        (["--t-end", "1.005"], "t_end=1.005 must be a whole number of steps"),
        (["--t-end", "-1"], "t_end=-1.0 must be"),
        (["--paths", "0"], "paths='0' must be an integer >= 1"),
        (["--seed", "-1"], "seed='-1' must be an integer >= 0"),
        (["--scheme", "milstein"], "scheme='milstein' must be one of"),
        (["--alpha", "2"], "alpha=2.0 must be"),
        (["--store-every", "x"], "store_every='x' must be an integer >= 1"),
        (["--dt", "0"], "dt=0.0 must be"),
    ],
)
def test_errors_are_one_line(arguments, message, here, capsys):
    (here / "broken.nc").write_bytes(b"not a file of that kind")
    xr.Dataset({"a": ("x", [1.0])}).to_netcdf(here / "other.nc", engine="h5netcdf")
    before = sorted(here.iterdir())
    code, out, err = run(["simulate", *arguments], capsys)
    assert code == 2
    _assert_one_line(out, err, message)
    assert [p for p in sorted(here.rglob("*")) if p.is_file()] == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.assign_attrs(parameters="{}"), "'parameters' lacks 'model'"),
        (lambda r: r.assign_attrs(parameters="{"), "'parameters' must be JSON text"),
        (lambda r: r.assign_attrs(parameters="[]"), "'parameters' must be a JSON object"),
        (lambda r: r.assign_attrs(parameters=r.attrs["parameters"].replace("kappa", "other")), "model:"),
        (lambda r: r.assign_attrs(parameters=r.attrs["parameters"].replace("40", "50")), "has n_paths=50"),
        (lambda r: r.assign_attrs(simulation="{}"), "has format None"),
        (lambda r: r.drop_vars("time"), "has no variable 'time'"),
        (lambda r: r.drop_vars("zeta"), "has no variable 'zeta'"),
        (lambda r: r.isel(time=slice(0, 3)), "ends at time"),
    ],
)
def test_a_file_that_is_not_whole_is_one_line(change, message, here, capsys, without_saving):
    run(["simulate", *SMALL, "-o", "good.nc"], capsys)
    change(read("good.nc")).to_netcdf("bad.nc", engine="h5netcdf")
    code, out, err = run(["simulate", "--continue", "bad.nc", "--t-end", "3"], capsys)
    assert code == 2
    _assert_one_line(out, err, message)
    assert "bad.nc" in err


def test_a_part_of_the_paths_is_reported_as_such(here, capsys, without_saving):
    run(["simulate", *SMALL, "-o", "good.nc"], capsys)
    read("good.nc").isel(path=slice(0, 3)).to_netcdf("part.nc", engine="h5netcdf")
    code, out, _ = run(["simulate", "--continue", "part.nc", "--t-end", "3"], capsys)
    assert code == 0
    assert out.startswith("3 of 40 paths, times 0 to 3")


def test_zarr_without_its_library_says_what_to_install(here, capsys, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "zarr", None)
    code, _, err = run(["simulate", *SMALL, "-o", "x.zarr"], capsys)
    assert code == 2
    assert "needs the extra 'distributed'" in err


def test_zarr(here, capsys, without_saving):
    pytest.importorskip("zarr")
    for _ in range(2):
        assert run(["simulate", *SMALL, "-o", "x.zarr"], capsys)[0] == 0
    run(["simulate", *SMALL, "-o", "x.nc"], capsys)
    with xr.open_dataset(here / "x.zarr", engine="zarr", consolidated=False) as data:
        np.testing.assert_array_equal(data["zeta"], read("x.nc")["zeta"])
    assert sorted(p.name for p in here.iterdir()) == ["x.nc", "x.pdf", "x.png", "x.zarr"]


# The command, but for a file after every short piece: its first says that the run is on its way.
SAVING_OFTEN = """
from levycollapse.cli import main, simulate
simulate.PIECE_SECONDS, simulate.SAVE_SECONDS = 0.1, 0.0
main()
"""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_interruption_leaves_a_file_that_continues(here, stop, capsys, without_saving):
    arguments = [
        "simulate",
        "--paths",
        "200",
        "--t-end",
        "100000",
        "--dt",
        "0.01",
        "--seed",
        "5",
        "--store-every",
        "50",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", SAVING_OFTEN, *arguments, "-o", "long.nc"], cwd=here, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and not (here / "long.nc").exists():
        time.sleep(0.05)
    process.send_signal(stop)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    message = err.strip().splitlines()[-1]
    assert "interrupted at t=" in message
    assert message.endswith("levycollapse simulate --continue long.nc --t-end 100000")
    partial = read(here / "long.nc")
    end = float(partial["time"][-1])
    further = round(end + 1.0, 2)
    assert run(["simulate", "--continue", "long.nc", "--t-end", further], capsys)[0] == 0
    model = lc.CollapseModel.from_parameters(kappa=1.0, eta_G=0.1, eta_J=0.62, alpha=1.5, lam=3.0)
    whole = lc.simulate(model, 200, further, 0.01, scheme="strang", rng=5)
    np.testing.assert_array_equal(read(here / "long.nc")["zeta"][:, -1], whole["zeta"][:, -1])
    assert sorted(p.name for p in here.iterdir()) == ["long.nc", "long.pdf", "long.png"]


@pytest.mark.parametrize(("call", "message"), [(1, "nothing was written"), (2, "--continue x.nc --t-end 2")])
def test_an_interruption_that_a_library_swallows_still_stops(call, message, here, capsys, monkeypatch):
    """As callbacks of a compiler do: call 1 is the one that compiles, call 2 the first piece."""
    simulate, calls = lc.simulate, []

    def swallowing(*arguments, **options):
        calls.append(1)
        result = simulate(*arguments, **options)
        if len(calls) == call:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        return result

    monkeypatch.setattr(lc, "simulate", swallowing)
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    code, _, err = run(["simulate", *SMALL, "-o", "x.nc"], capsys)
    assert code == 130
    assert message in err
    assert len(calls) == call
    assert (here / "x.nc").exists() == (call == 2)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers


def test_help_says_what_a_killed_run_loses(capsys):
    code, out, _ = run(["simulate", "--help"], capsys)
    assert code == 0
    assert "every 10 seconds" in " ".join(out.split())
