"""`levycollapse networks ...`: what it prints and saves is what the functions give; bad files leave nothing behind."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

import levycollapse as lc
from levycollapse.cli import main
from tests.cli.test_cli import _assert_one_line, strict_json
from tests.cli.test_simulate import run

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.numpy")

UNITS, STEPS = 40, 60


@pytest.fixture
def files(here):
    """A GRU under a prefix beside another one, its inputs, and files that are broken or hostile."""
    torch.manual_seed(0)
    encoder, decoder = torch.nn.GRU(3, UNITS, batch_first=True), torch.nn.LSTM(2, 5)
    torch.save({"encoder": encoder.state_dict()}, here / "one.pt")
    torch.save({"encoder": encoder.state_dict(), "decoder": decoder.state_dict()}, here / "two.pt")
    x = np.random.default_rng(0).standard_normal((6, STEPS, 3)).astype(np.float32)
    np.save(here / "x.npy", x)
    np.savez(here / "x.npz", inputs=x, other=np.ones(2))
    safetensors.save_file({"inputs": x}, here / "x.safetensors")
    np.save(here / "lengths.npy", np.array([60, 50, 40, 60, 30, 20]))
    whole = (here / "one.pt").read_bytes()
    (here / "short.pt").write_bytes(whole[: len(whole) // 2])
    return x


def created(here, before):
    return {str(p.relative_to(here)) for p in here.rglob("*") if p.is_file()} - before


def test_inspect(files, capsys):
    code, out, err = run(["networks", "inspect", "two.pt"], capsys)
    assert (code, err) == (0, "")
    assert "encoder: gru, 1 layer(s), 3 inputs, 40 units, float32" in out and "(sequences, steps, 2)" in out
    record = strict_json(run(["networks", "inspect", "two.pt", "--json"], capsys)[1])
    assert [(n["name"], n["kind"]) for n in record["networks"]] == [("encoder", "gru"), ("decoder", "lstm")]


@pytest.mark.parametrize("inputs", ["x.npy", "x.npz", "x.safetensors"])
def test_timescales(files, here, capsys, without_saving, inputs):
    arguments = ["--inputs", inputs, "--submodule", "encoder", "--lengths", "lengths.npy", "--burn-in", "5"]
    before = created(here, set())
    code, out, err = run(["networks", "timescales", "two.pt", *arguments, "--kernel", "gates"], capsys)
    assert (code, err) == (0, "") and not created(here, before)
    assert "RESOLVED 40" in out and "nan" not in out
    code, out, _ = run(["networks", "timescales", "two.pt", *arguments, "-o", "out", "--json"], capsys)
    record = strict_json(out)
    names = ["timescales.nc", "timescales.png", "timescales.pdf", "summary.json"]
    assert record["files"] == [f"out/{name}" for name in names]
    expected = lc.networks.timescales("two.pt", files, submodule="encoder", lengths=np.load("lengths.npy"), burn_in=5)
    with xr.open_dataset(here / "out" / "timescales.nc", engine="h5netcdf") as data:
        np.testing.assert_array_equal(data["tau"], expected["tau"])
        assert data.attrs["inputs"] == expected.attrs["inputs"]
    assert record["tau_quantiles_of_resolved"]["0.5"] == pytest.approx(np.median(expected["tau"]))
    assert strict_json((here / "out" / "summary.json").read_text())["units"] == record["units"]


def test_verdict_and_the_example_of_its_help(files, here, capsys, without_saving):
    safetensors.save_file(
        {k: v.numpy() for k, v in torch.load("one.pt")["encoder"].items()}, here / "weights.safetensors"
    )
    os.rename("x.npy", "sequences.npy")
    with pytest.raises(SystemExit):
        main(["networks", "--help"])
    example = " ".join(capsys.readouterr().out.split()).split("Example: levycollapse ")[1].split(" Options:")[0]
    code, out, err = run(example.split(), capsys)
    assert (code, err) == (0, "")
    record = strict_json((here / "out" / "summary.json").read_text())
    with (
        xr.open_dataset(here / "out" / "spectrum.nc", engine="h5netcdf") as spectrum,
        xr.open_dataset(here / "out" / "envelope.nc", engine="h5netcdf") as envelope,
    ):
        # The files lead to the same verdict.
        found = lc.verdict(spectrum, envelope)
    assert str(found) in out and record["headline"] == found.headline
    assert record["independent"] is True and record["sequences"] == {"spectrum": 3, "envelope": 3, "steps": STEPS}
    assert record["beta_spectrum"] == list(found.beta_spectrum)
    first = lc.networks.timescales("weights.safetensors", files[:3])
    np.testing.assert_array_equal(spectrum["tau"], first["tau"])
    assert sorted(p.name for p in (here / "out").iterdir()) == [
        *("envelope.nc", "spectrum.nc", "summary.json", "verdict.pdf", "verdict.png")
    ]


class Hostile:
    def __reduce__(self):
        return os.mkdir, ("executed",)


@pytest.mark.parametrize("command", ["timescales", "verdict"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.pt"], "--inputs is missing: give a .npy, .npz or .safetensors file of shape (sequences, steps, 3)"),
        (["two.pt", "--inputs", "x.npy"], "submodule=None: two.pt holds 'encoder', 'decoder'; choose one of them"),
        (["one.pt", "--inputs", "x.npy", "--submodule", "head"], "submodule='head': one.pt holds 'encoder'"),
        (["none.pt", "--inputs", "x.npy"], "none.pt: no such file"),
        (["short.pt", "--inputs", "x.npy"], "short.pt: expected a state dict"),
        (["evil.pt", "--inputs", "x.npy"], "evil.pt: expected a state dict that loads without running code"),
        (["one.pt", "--inputs", "none.npy"], "none.npy does not exist"),
        (["one.pt", "--inputs", "evil.npy"], "evil.npy cannot be read as an array of numbers"),
        (["one.pt", "--inputs", "short.npy"], "short.npy cannot be read as an array of numbers"),
        (["one.pt", "--inputs", "short.safetensors"], "short.safetensors cannot be read as a safetensors file"),
        (["one.pt", "--inputs", "x.csv"], "x.csv must end in .npy, .npz or .safetensors"),
        (["one.pt", "--inputs", "several.npz"], "several.npz holds a, b; it must hold one array, or one called"),
        (["one.pt", "--inputs", "wide.npy"], "wide.npy has shape (4, 9, 5); it must be (sequences, steps, 3)"),
        (["one.pt", "--inputs", "nan.npy"], "must be a finite number"),
        (["one.pt", "--inputs", "x.npy", "--lengths", "x.npy"], "lengths has shape"),
        (["one.pt", "--inputs", "x.npy", "--kernel", "guess"], "kernel='guess' must be one of"),
        (["one.pt", "--inputs", "x.npy", "--burn-in", "99"], "burn_in=99 must be less than"),
    ],
)
def test_errors_are_one_line_and_nothing_is_written(files, here, capsys, command, arguments, message):
    for name in ("evil.pt", "evil.npy"):
        (here / name).write_bytes(pickle.dumps(Hostile()))
    for name in ("x.npy", "x.safetensors"):
        (here / name.replace("x", "short", 1)).write_bytes((here / name).read_bytes()[:100])
    (here / "x.csv").write_text("1,2\n")
    np.savez(here / "several.npz", a=np.ones(2), b=np.ones(2))
    np.save(here / "wide.npy", np.ones((4, 9, 5)))
    np.save(here / "nan.npy", np.full((4, 9, 3), np.nan))
    before = created(here, set())
    code, out, err = run(["networks", command, *arguments, "-o", "out"], capsys)
    assert code == 2
    _assert_one_line(out, err, message)
    assert not created(here, before) and not (here / "executed").exists()


def test_a_verdict_of_one_sequence_is_refused(files, here, capsys):
    np.save(here / "one.npy", files[0])
    code, out, err = run(["networks", "verdict", "one.pt", "--inputs", "one.npy"], capsys)
    assert code == 2
    _assert_one_line(out, err, "one.npy holds one sequence")
    assert run(["networks", "timescales", "one.pt", "--inputs", "one.npy"], capsys)[0] == 0


def test_without_torch_the_error_says_what_to_install(files, here):
    (here / "torch.py").write_text("raise ImportError('blocked')\n")
    path = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
    found = subprocess.run(
        [sys.executable, "-c", "from levycollapse.cli import main; main(['networks', 'inspect', 'one.pt'])"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.returncode == 2
    _assert_one_line(found.stdout, found.stderr, 'pip install "levycollapse[networks]"')
