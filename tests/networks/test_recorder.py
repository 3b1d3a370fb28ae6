"""Panels of zeta: what they hold, and that recording them changes nothing."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch
import xarray as xr

import levycollapse.networks as nw
from levycollapse.errors import CheckpointError, ParameterError


class Model(torch.nn.Module):
    """A model with everything that a careless probe would disturb."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)
        self.rnn = torch.nn.GRU(3, 5, num_layers=2, dropout=0.3, batch_first=True)
        self.drop = torch.nn.Dropout(0.2)
        self.out = torch.nn.Linear(5, 1)

    def forward(self, x):
        x = self.norm(x.transpose(1, 2)).transpose(1, 2)
        random.random()
        np.random.rand()  # noqa: NPY002
        return self.out(self.drop(self.rnn(x)[0]))


def train(recorded, steps=7):
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    model = Model()
    model.out.eval()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    recorder = nw.ZetaRecorder(model, diagnostic(), every=3, submodule="rnn") if recorded else None
    for step in range(steps):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 10, 3) + random.random() + np.random.rand()).square().mean()  # noqa: NPY002
        loss.backward()
        if recorder is not None:
            recorder(step)
        optimizer.step()
    state = {**model.state_dict(), **{n: p.grad for n, p in model.named_parameters()}}
    modes = [module.training for module in model.modules()]
    draws = (random.random(), np.random.rand(), torch.rand(1).item())  # noqa: NPY002
    return state, modes, draws, recorder


def diagnostic():
    return torch.randn(6, 20, 3, generator=torch.Generator().manual_seed(9))


def test_training_is_the_same_to_the_last_bit_with_and_without():
    state, modes, draws, _ = train(False)
    other, other_modes, other_draws, recorder = train(True)
    assert recorder.steps == [0, 3, 6]
    assert modes == other_modes and draws == other_draws
    for name, value in state.items():
        assert torch.equal(value, other[name]), name


def test_a_record_is_what_timescales_says_of_disjoint_sequences():
    torch.manual_seed(0)
    net, x = nw.DiagGate(3, 4, s0=0.2), diagnostic()
    recorder = nw.ZetaRecorder(net, x, every=10, replicates=3, seed=7)
    recorder(5)
    recorder(10)
    panel = recorder.panel()
    assert panel["zeta"].dims == ("seed", "unit", "time", "replicate")
    assert panel["zeta"].shape == (1, 4, 1, 3) and panel["seed"].item() == 7 and panel["time"].item() == 10
    for r in range(3):
        alone = nw.timescales(net, x[r::3])
        cell = panel.isel(seed=0, time=0, replicate=r)
        np.testing.assert_allclose(cell["mu"], alone["mu"], rtol=1e-6)
        np.testing.assert_allclose(cell["zeta"], alone["zeta"], rtol=1e-6)
        np.testing.assert_array_equal(cell["status"], alone["status"])
        np.testing.assert_allclose(cell["mu_error"], alone["mu_error"], rtol=0.3)


@pytest.mark.parametrize("kernel", ["gates", "first-order", "jacobian"])
def test_other_kernels_per_replicate(kernel):
    torch.manual_seed(0)
    net, x = nw.DiagGate(3, 4, s0=0.2), diagnostic()
    panel = nw.zeta_panel([net], x, kernel=kernel, lags=[1, 2, 6])
    for r in range(2):
        alone = nw.timescales(net, x[r::2], kernel=kernel, lags=[1, 2, 6])
        np.testing.assert_allclose(panel["mu"][0, :, 0, r], alone["mu"], rtol=1e-6)


def test_checkpoints_of_several_trainings(tmp_path):
    x = diagnostic()
    trainings, files = {}, {}
    for seed in (3, 8):
        torch.manual_seed(seed)
        trainings[seed] = {time: torch.nn.LSTM(3, 4, batch_first=True) for time in (0, 10, 25)}
        files[seed] = {}
        for time, net in trainings[seed].items():
            files[seed][time] = tmp_path / f"{seed}_{time}.pt"
            torch.save(net.state_dict(), files[seed][time])
    panel = nw.zeta_panel(trainings, x)
    assert panel["zeta"].shape == (2, 4, 3, 2)
    assert panel["seed"].values.tolist() == [3, 8] and panel["time"].values.tolist() == [0, 10, 25]
    np.testing.assert_allclose(panel["mu"][1, :, 2, 1], nw.timescales(trainings[8][25], x[1::2])["mu"], rtol=1e-6)
    assert nw.zeta_panel(files, x).identical(panel)
    states = {seed: {t: net.state_dict() for t, net in of.items()} for seed, of in trainings.items()}
    assert nw.zeta_panel(states, x).identical(panel)
    one = nw.zeta_panel(states[8], x)
    np.testing.assert_array_equal(one["zeta"][0], panel["zeta"][1])
    listed = nw.zeta_panel([list(of.values()) for of in trainings.values()], x)
    np.testing.assert_array_equal(listed["zeta"], panel["zeta"])


def test_saved_and_taken_up_again(tmp_path):
    torch.manual_seed(0)
    net, x = nw.GRU(3, 4), diagnostic()
    recorder = nw.ZetaRecorder(net, x, every=1)
    recorder(0)
    recorder(1)
    recorder.save(tmp_path / "zeta.npz")
    recorder.save(tmp_path / "zeta.nc")
    with xr.open_dataset(tmp_path / "zeta.nc", engine="h5netcdf") as read:
        assert read.load().equals(recorder.panel())
    again = nw.ZetaRecorder(net, x, every=1)
    again.restore(tmp_path / "zeta.npz")
    assert again.panel().identical(recorder.panel())
    again(2)
    assert again.steps == [0, 1, 2] and again.panel().isel(time=slice(2)).identical(recorder.panel())
    with pytest.raises(ParameterError, match="must be larger than the last one recorded, 2"):
        again(2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["zeta.nc", "zeta.npz"]


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    net, x = nw.GRU(3, 4), diagnostic()
    recorder = nw.ZetaRecorder(net, x, every=1)
    recorder(0)
    path = tmp_path / "zeta.npz"
    recorder.save(path)
    before = path.read_bytes()
    recorder(1)

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        recorder.save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_files_that_do_not_fit(tmp_path):
    net, x = nw.GRU(3, 4), diagnostic()
    recorder = nw.ZetaRecorder(net, x, every=1)
    with pytest.raises(ParameterError, match="nothing is recorded"):
        recorder.panel()
    recorder(0)
    path = tmp_path / "zeta.npz"
    recorder.save(path)
    with pytest.raises(ParameterError, match=r"must end in \.npz or \.nc"):
        recorder.save(tmp_path / "zeta.csv")
    with pytest.raises(ParameterError, match="seed=0, not 1"):
        nw.ZetaRecorder(net, x, every=1, seed=1).restore(path)
    with pytest.raises(ParameterError, match="kernel='diagonal', not 'gates'"):
        nw.ZetaRecorder(net, x, every=1, kernel="gates").restore(path)
    with pytest.raises(CheckpointError, match="expected format"):
        nw.ZetaRecorder(net, x, every=1, replicates=3).restore(path)
    with pytest.raises(ParameterError, match="has units"):
        nw.ZetaRecorder(nw.GRU(3, 5), x, every=1).restore(path)
    whole = dict(np.load(path))
    forged = [
        {"steps": np.array([0.0])},
        {"steps": np.array([-1])},
        {"steps": np.zeros((1, 1), dtype=int)},
        {"mu": np.full(whole["mu"].shape, "a")},
        {"status": whole["status"] + np.int8(99)},
        {"header": np.array(str(whole["header"]).replace("[[0, 0, 4]]", "[[0, 0, -1], [0, 0, 5]]"))},
    ]
    for change in forged:
        np.savez(tmp_path / "forged.npz", **{**whole, **change})
        with pytest.raises(CheckpointError, match=r"does not write|expected format"):
            nw.ZetaRecorder(net, x, every=1).restore(tmp_path / "forged.npz")
    for content in (path.read_bytes()[:200], b"", b"no archive"):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match="not a file that"):
            recorder.restore(path)
    np.savez(path, header=np.array(object(), dtype=object))
    with pytest.raises(CheckpointError, match="not a file that"):
        recorder.restore(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: nw.zeta_panel([], x), "must be a mapping or list, and not empty"),
        (lambda x: nw.zeta_panel(nw.GRU(3, 4), x), "must be a mapping or list"),
        (lambda x: nw.zeta_panel([nw.GRU(3, 4)], x, replicates=7), "replicates=7, but there are 6 sequences"),
        (lambda x: nw.zeta_panel([nw.GRU(3, 4), nw.GRU(3, 5)], x), "checkpoint has units"),
        (lambda x: nw.zeta_panel({1: nw.GRU(3, 4), 0: nw.GRU(3, 4)}, x), "must increase"),
        (lambda x: nw.zeta_panel([[nw.GRU(3, 4)], [nw.GRU(3, 4)] * 2], x), "has times"),
        (lambda x: nw.ZetaRecorder(nw.GRU(3, 4), x, every=0), "every=0 must be an integer >= 1"),
        (lambda x: nw.ZetaRecorder("net.pt", x, every=1), "must be a torch module"),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises(ParameterError, match=message):
        make(diagnostic())
