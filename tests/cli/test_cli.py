"""The installed command, as a stranger would run it."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray as xr

import levycollapse as lc
from levycollapse.cli import main
from tests.conftest import REFERENCE

COMMAND = Path(sys.executable).with_name("levycollapse")
FLAGS = {
    "kappa": "--kappa",
    "eta_G": "--eta-G",
    "eta_J": "--eta-J",
    "alpha": "--alpha",
    "lam": "--lam",
    "beta": "--beta",
}
WITHOUT_JUMPS = {name: value for name, value in REFERENCE.items() if name != "eta_J"}


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=300)


@pytest.fixture
def call(capsys):
    """As `run`, but in this process, which spares the start of an interpreter."""

    def inside(*arguments: object) -> subprocess.CompletedProcess[str]:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, stop.value.code, captured.out, captured.err)

    return inside


def flags(**parameters: object) -> list[object]:
    return [part for name, value in parameters.items() for part in (FLAGS[name], value)]


def strict_json(text: str) -> dict:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_exponent_json(call):
    result = call("exponent", *flags(**REFERENCE), "--json")
    assert result.returncode == 0, result.stderr
    record = strict_json(result.stdout)
    assert record["parameters"] == REFERENCE
    assert record["beta"] == lc.spectral_exponent(**REFERENCE)
    assert (record["status"], record["phase"]) == ("ROOT", "CONCENTRATED")
    assert record["eta_J_star"] == lc.jump_threshold(**WITHOUT_JUMPS)
    assert record["tail"] == {"form": "POWER", "rate": record["beta"], "log_power": 0.0, "loglog_power": 0.0}


def test_no_exponent_is_an_answer(call):
    below = {**REFERENCE, "eta_J": 0.1}
    record = strict_json(call("exponent", *flags(**below), "--json").stdout)
    assert (record["beta"], record["status"]) == (None, "BELOW_THRESHOLD")
    text = call("exponent", *flags(**below))
    assert text.returncode == 0
    assert "beta        none" in text.stdout
    assert "nan" not in text.stdout


def test_threshold_and_design(call):
    record = strict_json(call("threshold", *flags(**WITHOUT_JUMPS), "--json").stdout)
    assert record["eta_J_star"] == lc.jump_threshold(**WITHOUT_JUMPS)
    assert record["eta_J_critical"] == lc.critical_intensity(**WITHOUT_JUMPS)
    record = strict_json(call("design", *flags(beta=0.5, **WITHOUT_JUMPS), "--json").stdout)
    assert record["eta_J"] == lc.intensity_for_exponent(0.5, **WITHOUT_JUMPS)
    unreachable = strict_json(call("design", *flags(beta=5, **WITHOUT_JUMPS), "--json").stdout)
    assert (unreachable["eta_J"], unreachable["status"]) == (None, "ABOVE_TEMPERING")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["exponent", *flags(**{**REFERENCE, "alpha": 2})], "alpha=2.0 must be a number strictly between 0 and 2"),
        (["exponent", *flags(**{**REFERENCE, "alpha": "x"})], "alpha='x' must be a number"),
        (["exponent", *flags(**{**REFERENCE, "eta_J": "nan"})], "eta_J='nan' must be finite"),
        (["exponent", *flags(**{**REFERENCE, "eta_J": 0, "eta_G": 0})], "without noise"),
        (["exponent", "--kappa", "1"], "Missing option '--eta-G'"),
        (["threshold", *flags(**{**WITHOUT_JUMPS, "kappa": -1})], "kappa=-1.0 must be a finite number > 0"),
        (["design", *flags(beta=0, **WITHOUT_JUMPS)], "beta=0.0 must be"),
        (["nonsense"], "No such command 'nonsense'"),
        (["exponent", "--frobnicate"], "No such option"),
        (
            ["phase-diagram", "--lam", "1:2", "--kappa", "1:2", "--alpha", "0.5:1"],
            "exactly two parameters must be ranges",
        ),
        (["phase-diagram", "--alpha", "1", "--eta-J", "1", "--lam", "2"], "exactly two parameters must be ranges"),
        (["phase-diagram", "--lam", "1:2:1"], "1 points are too few"),
        (["phase-diagram", "--lam", "2:1"], "START must be below STOP"),
        (["phase-diagram", "--lam", "0:1:5:log"], "must start above 0"),
        (["phase-diagram", "--lam", "1:2:x"], "POINTS='x' must be an integer"),
        (["phase-diagram", "--lam", "1:2:3:4:5"], "must be a number, or a range"),
        (["phase-diagram", "--alpha", "0.1:2"], "must be a number strictly between 0 and 2"),
        (["phase-diagram", "--quantity", "gamma"], "quantity='gamma' must be one of"),
        (["phase-diagram", "--samples", "100"], "samples='100' is about windows; give --quantity window too"),
        (["phase-diagram", "--quantity", "window", "--samples", "0"], "N=0.0 must be"),
        (["phase-diagram", "--quantity", "window", "--noise-alpha", "3"], "noise_alpha=3.0 must be"),
        (["phase-diagram", "--points", "1"], "1 points are too few"),
        (["phase-diagram", "--lam", "1:2:1000000000000"], "1000000000000 points are too many"),
        (["phase-diagram", "--points", "200000"], "grid points are too many"),
        (["phase-diagram", "--kappa", "-1e308:1e308"], "wider than the range"),
    ],
)
def test_errors_are_one_line(arguments, message, here, call):
    """The next test goes through the command."""
    result = call(*arguments)
    assert result.returncode == 2
    _assert_one_line(result.stdout, result.stderr, message)
    assert not list(here.rglob("*.*"))


def _assert_one_line(out: str, err: str, message: str) -> None:
    lines = [line for line in err.splitlines() if "points over" not in line]
    assert len(lines) == 1, err
    assert lines[0].startswith("levycollapse: error: ")
    assert message in lines[0]
    assert out == ""


def test_errors_through_the_command(tmp_path):
    for arguments, message in (
        (["exponent", *flags(**{**REFERENCE, "alpha": 2})], "alpha=2.0 must be"),
        (["nonsense"], "No such command"),
    ):
        result = run(*arguments, cwd=tmp_path)
        assert result.returncode == 2
        _assert_one_line(result.stdout, result.stderr, message)


def test_output_that_cannot_be_written(here, call):
    (here / "file").write_text("mine")
    for target, message in (("file", "is a file; it must be a folder"), ("file/below", "Not a directory")):
        result = call("phase-diagram", "--points", 5, "-o", target)
        assert result.returncode == 2
        assert message in result.stderr
        assert "Traceback" not in result.stderr
    assert (here / "file").read_text() == "mine"


#: Every command, and what makes the example of its help quick.
COMMANDS: dict[str, list[str]] = {
    "exponent": [],
    "threshold": [],
    "design": [],
    "phase-diagram": ["--points", "30"],
    "simulate": ["--paths", "100"],
    "stationary": [],
    "envelope": [],
    "learnability": [],
    "networks": [],
}


def test_every_command_is_here(call):
    listed = call("--help").stdout.split("Commands:")[1]
    assert {line.split()[0] for line in listed.splitlines() if line.strip()} == set(COMMANDS)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_an_example(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "Usage: levycollapse" in text
    if command:
        assert f"Example: levycollapse {command}" in text


# Those of `networks` need files: tests/cli/test_networks.py.
@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "networks"])
def test_examples_of_the_help_run(command, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    example = text.split("Example: levycollapse ")[1].split(" Options:")[0].split()
    result = run(*example, *COMMANDS[command], cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    for picture in tmp_path.rglob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_no_arguments_and_version():
    assert "Commands:" in run().stdout
    assert run("--version").stdout.strip() == f"levycollapse {lc.__version__}"


def test_phase_diagram_files(here, call):
    result = call("phase-diagram", "--points", 40)
    assert result.returncode == 0, result.stderr
    folder = here / "results" / "phase_diagram"
    names = ["phase_diagram.nc", "phase_diagram.pdf", "phase_diagram.png", "summary.json"]
    assert sorted(p.name for p in folder.iterdir()) == names
    for name in names:
        assert f"results/phase_diagram/{name}" in result.stdout
    with xr.open_dataset(folder / "phase_diagram.nc", engine="h5netcdf") as data:
        assert dict(data.sizes) == {"eta_J": 40, "alpha": 40}
        expected = lc.phase_diagram(
            kappa=1.0, eta_G=0.1, eta_J=data["eta_J"].values, alpha=data["alpha"].values, lam=3.0
        )
        xr.testing.assert_equal(data.load(), expected)
    summary = strict_json((folder / "summary.json").read_text())
    assert summary["points"] == sum(summary["phases"].values()) == 1600
    assert set(summary["phases"]) == {"collapsed", "concentrated", "broad"}
    assert summary["fixed"] == {"kappa": 1.0, "eta_G": 0.1, "lam": 3.0}


def test_any_two_axes_with_ranges(here, call, without_saving):
    result = call(
        *("phase-diagram", "--kappa", "0.1:3:20", "--eta-G", "0:1:30", "--eta-J", "0.3", "--quantity", "tail_rate"),
        *("-o", "out"),
    )
    assert result.returncode == 0, result.stderr
    with xr.open_dataset(here / "out" / "phase_diagram.nc", engine="h5netcdf") as data:
        assert dict(data.sizes) == {"kappa": 20, "eta_G": 30}
        assert data.attrs["eta_J"] == 0.3
        assert math.isclose(data["tail_rate"][5, 7].item(), lc.tail_law(*_at(data, 5, 7)).rate)


def _at(data: xr.Dataset, i: int, j: int) -> list[float]:
    return [data["kappa"][i].item(), data["eta_G"][j].item(), 0.3, 1.5, 3.0]


def test_interrupted_run_leaves_nothing(tmp_path):
    process = subprocess.Popen(
        [COMMAND, "phase-diagram", "--points", "4000"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    process.stderr.readline()
    time.sleep(1.0)
    # While Numba compiles it may swallow an interrupt; a user presses Ctrl-C again.
    # Not while it ends, where Python leaves the signal to the system.
    for _ in range(12):
        process.send_signal(signal.SIGINT)
        try:
            _, error = process.communicate(timeout=20)
            break
        except subprocess.TimeoutExpired:
            continue
    assert process.returncode == 130
    assert error.strip().splitlines()[-1] == "levycollapse: error: interrupted; nothing was written"
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_windows_over_a_grid(here, call):
    grid = ["--eta-J", "0.5:2:3", "--alpha", "1.2:1.8:2"]
    noise = ["--samples", "1e5", "--noise-alpha", "1.3", "--signal", "2"]
    result = call("phase-diagram", "--quantity", "window", *grid, *noise, "-o", "out")
    assert result.returncode == 0, result.stderr
    expected = lc.phase_diagram(
        **{**REFERENCE, "eta_J": [0.5, 1.25, 2.0], "alpha": [1.2, 1.8]},
        quantity="window",
        N=1e5,
        noise=lc.StableNoise(alpha=1.3, scale=1.0, signal=2.0, level=0.05),
    )
    with xr.open_dataset(here / "out" / "phase_diagram.nc", engine="h5netcdf") as data:
        assert (data["window"].values == expected["window"].values).all()
    fixed = strict_json((here / "out" / "summary.json").read_text())["fixed"]
    assert (fixed["N"], fixed["noise_alpha"], fixed["power"]) == (1e5, 1.3, 0.5)


def test_two_runs_into_one_folder(tmp_path):
    runs = [
        subprocess.Popen(
            [COMMAND, "phase-diagram", "--points", "60", "-o", "out"], cwd=tmp_path, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in runs:
        _, error = process.communicate(timeout=180)
        assert process.returncode == 0, error
    names = ["phase_diagram.nc", "phase_diagram.pdf", "phase_diagram.png", "summary.json"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == names


def test_closed_pipe_is_silent():
    read, write = os.pipe()
    os.close(read)
    result = subprocess.run(
        [COMMAND, "exponent", *map(str, flags(**REFERENCE))], stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert "Traceback" not in result.stderr
