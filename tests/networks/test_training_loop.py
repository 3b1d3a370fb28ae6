from __future__ import annotations

import os
import pickle
import random
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import levycollapse as lc  # noqa: E402
from levycollapse import CheckpointError, ParameterError, TrainingError  # noqa: E402
from levycollapse.networks import GRU, LSTM, ConstGate, DiagGate, SharedGate, read_network  # noqa: E402
from levycollapse.training import (  # noqa: E402
    DelayedRegression,
    StableInjection,
    Stream,
    Streams,
    UpdateRecorder,
    geometric_steps,
    train,
)

TASK = DelayedRegression(3, (1, 4), (0.5, 1.0))
MASK = np.arange(6) < 2
SMALL = {"batch_size": 4, "length": 8, "seed": 11}


def make():
    return DiagGate(3, 6)


def same(first, second):
    states = (first.module.state_dict(), second.module.state_dict())
    equal = states[0].keys() == states[1].keys() and all(torch.equal(v, states[1][k]) for k, v in states[0].items())
    return equal and np.array_equal(first.loss, second.loss)


def of_torch(name, parameters, lr):
    optim = torch.optim
    return {
        "adamw": lambda: optim.AdamW(parameters, lr=lr, weight_decay=0.1),
        "adam": lambda: optim.Adam(parameters, lr=lr, betas=(0.8, 0.95)),
        "sgd": lambda: optim.SGD(parameters, lr=lr),
        "momentum": lambda: optim.SGD(parameters, lr=lr, momentum=0.9),
        "rmsprop": lambda: optim.RMSprop(parameters, lr=lr),
    }[name]()


@pytest.mark.parametrize("name", ["adamw", "adam", "sgd", "momentum", "rmsprop"])
def test_it_is_the_loop_one_writes_with_torch(name, tmp_path):
    """Losses, weights and the optimizer's state, to the last bit."""
    options = {"adamw": {"weight_decay": 0.1}, "adam": {"betas": (0.8, 0.95)}}.get(name)
    result = train(
        make, TASK, steps=7, optimizer=name, lr=0.01, optimizer_options=options, clip=0.5, out=tmp_path, **SMALL
    )
    streams = Streams(11)
    with torch.random.fork_rng():
        torch.manual_seed(streams.torch_seed(Stream.INITIALISATION))
        module = make()
    optimizer = of_torch(name, list(module.parameters()), 0.01)
    for step in range(1, 8):
        x, y = TASK.batch(4, 8, streams.generator(Stream.DATA, step))
        optimizer.zero_grad()
        loss = (module(x)[0] - y).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 0.5)
        optimizer.step()
        assert result.loss[step - 1] == pytest.approx(loss.item(), rel=1e-6)
    for key, value in module.state_dict().items():
        assert torch.allclose(value, result.module.state_dict()[key], rtol=1e-6, atol=1e-8)
    stored = torch.load(result.checkpoints[7], weights_only=True)["optimizer"]["state"]
    for index, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            if isinstance(value, torch.Tensor):
                assert torch.allclose(value, stored[index][key], rtol=1e-5, atol=1e-9), (index, key)


def test_a_fixed_set_is_gone_through_in_epochs():
    seen = []

    class Spy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.out = torch.nn.Linear(3, 1)

        def forward(self, x):
            seen.append(x.clone())
            return self.out(x)

    train(Spy, TASK, steps=6, sequences=10, **SMALL)
    x, _ = TASK.batch(10, 8, Streams(11).generator(Stream.DATA, 0))
    assert [batch.shape[0] for batch in seen] == [4, 4, 2, 4, 4, 2]
    orders = [torch.cat(seen[i : i + 3]) for i in (0, 3)]
    for order in orders:
        found = {tuple(row.flatten().tolist()) for row in order}
        assert found == {tuple(row.flatten().tolist()) for row in x}
    assert not torch.equal(*orders)


def noisy_recorder(step):
    """As rude as a diagnostic can be without touching the module."""
    torch.rand(3)
    torch.manual_seed(step)
    random.seed(step)
    np.random.seed(step)  # noqa: NPY002


@pytest.mark.parametrize("options", [{}, {"sequences": 9}, {"injection": StableInjection(MASK)}])
def test_nothing_that_looks_on_changes_a_bit(options, tmp_path):
    """F38: recorders, checkpoints, progress and another model in between change no bit of the training."""

    def dropping():
        return torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Dropout(0.5), torch.nn.Linear(6, 1))

    torch.manual_seed(0)
    kinds = [make] if "injection" in options else [make, dropping]
    for kind in kinds:
        bare = train(kind, TASK, steps=8, **SMALL, **options)
        torch.rand(17)
        train(lambda: GRU(3, 5), TASK, steps=2, **SMALL)
        watched = train(
            kind,
            TASK,
            steps=8,
            out=tmp_path / kind.__name__,
            checkpoints=3,
            recorders=[noisy_recorder, UpdateRecorder(np.ones(6, bool), records=4)],
            read_every=3,
            progress=True,
            **SMALL,
            **options,
        )
        assert same(bare, watched)
    assert bare.loss.shape == (8,)


def test_the_callers_streams_and_grad_are_left_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    train(make, TASK, steps=3, **SMALL)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("kind", [ConstGate, SharedGate, DiagGate, GRU, LSTM])
def test_every_cell_learns(kind):
    options = {"s0": 0.3} if kind in (ConstGate, SharedGate, DiagGate) else {}
    result = train(
        lambda: kind(3, 12, **options),
        DelayedRegression(3, (1,), (1.0,), noise=0.1),
        steps=150,
        batch_size=16,
        length=10,
        lr=0.02,
        clip=1.0,
        seed=1,
    )
    assert result.loss[-10:].mean() < 0.5 * result.loss[:10].mean()
    assert result.best_loss == pytest.approx(0.01) and result.loss[-10:].mean() > result.best_loss


@pytest.mark.parametrize("injection", [None, StableInjection(lambda module: MASK, every=3)])
def test_a_training_in_pieces_is_the_training_in_one(injection, tmp_path):
    def run(steps, out, recorder):
        return train(
            make,
            TASK,
            steps=steps,
            sequences=10,
            out=out,
            checkpoints=2,
            injection=injection,
            recorders=[recorder],
            **SMALL,
        )

    recorders = [UpdateRecorder(MASK, records=7, start=2) for _ in range(3)]
    whole = run(9, tmp_path / "whole", recorders[0])
    run(4, tmp_path / "pieces", recorders[1])
    pieces = run(9, tmp_path / "pieces", recorders[2])
    assert same(whole, pieces) and (whole.resumed_from, pieces.resumed_from) == (0, 4)
    assert list(pieces.checkpoints) == [2, 4, 6, 8, 9]
    assert recorders[2].steps == [2, 3, 4, 5, 6, 7, 8]
    for kind in ("increments", "injected"):
        first, second = getattr(recorders[0], kind)(), getattr(recorders[2], kind)()
        assert all(first[name].identical(second[name]) for name in first)
    curve = np.load(tmp_path / "pieces" / "learning_curve.npz")
    assert np.array_equal(curve["loss"], whole.loss) and curve["step"][-1] == 9
    again = run(9, tmp_path / "pieces", UpdateRecorder(MASK))
    assert same(whole, again) and again.resumed_from == 9
    assert same(
        whole,
        train(
            make, TASK, steps=9, sequences=10, out=tmp_path / "pieces", injection=injection, **(SMALL | {"seed": None})
        ),
    )


def test_checkpoints_are_read_by_networks(tmp_path):
    result = train(make, TASK, steps=4, out=tmp_path, checkpoints=geometric_steps(4, 3), **SMALL)
    assert list(result.checkpoints) == [1, 2, 4]
    layer = read_network(result.checkpoints[4]).layers[0][0]
    assert layer.kind == "diag" and torch.equal(layer.weight_hh[:6], result.module.Wh.weight.detach())


def test_a_checkpoint_at_the_beginning(tmp_path):
    result = train(make, TASK, steps=3, out=tmp_path, checkpoints=[0, 3], **SMALL)
    content = torch.load(result.checkpoints[0], weights_only=True)
    assert content["step"] == 0 and content["losses"].numel() == 0
    result.checkpoints[3].unlink()
    calls = []
    assert same(result, train(make, TASK, steps=3, out=tmp_path, checkpoints=[0, 3], recorders=[calls.append], **SMALL))
    assert calls == [1, 2, 3]


def explosion(step):
    """A network whose prediction is not finite from a given call on."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.out, self.calls = torch.nn.Linear(3, 1), 0

        def forward(self, x):
            self.calls += 1
            return self.out(x) * (float("inf") if self.calls >= step else 1.0)

    return Net


@pytest.mark.parametrize("read_every", [1, 4])
def test_a_loss_that_is_not_finite_stops_it(read_every, tmp_path):
    with pytest.raises(TrainingError, match="step 6 of the training") as caught:
        train(explosion(6), TASK, steps=12, out=tmp_path, checkpoints=2, read_every=read_every, **SMALL)
    error = pickle.loads(pickle.dumps(caught.value))
    assert error.step == 6 and not np.isfinite(error.loss) and error.checkpoint == str(tmp_path / "step-00000004.pt")
    kept = torch.load(error.checkpoint, weights_only=True)
    assert all(torch.isfinite(value).all() for value in kept["model"].values())
    assert not (tmp_path / "step-00000006.pt").exists()
    assert np.isfinite(np.load(tmp_path / "learning_curve.npz")["loss"][:5]).all()


def test_a_parameter_that_is_not_finite_is_no_checkpoint(tmp_path):
    def spoil(step):
        if step == 4:
            module.out.bias.data.fill_(float("nan"))

    module = make()
    with pytest.raises(TrainingError, match="step 4") as caught:
        train(module, TASK, steps=8, out=tmp_path, checkpoints=2, recorders=[spoil], **SMALL)
    assert caught.value.checkpoint.endswith("step-00000002.pt")


def test_the_host_looks_at_the_device_at_intervals_only():
    """On a device a number that the host asks for (aten::_local_scalar_dense) makes it wait."""
    asked = []

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function is torch.ops.aten._local_scalar_dense.default:
                asked.append(function)
            return function(*args, **(kwargs or {}))

    recorder = UpdateRecorder(MASK, records=30)
    with Count():
        train(
            make,
            TASK,
            steps=20,
            optimizer="momentum",
            clip=1.0,
            injection=StableInjection(MASK),
            recorders=[recorder],
            read_every=10,
            **SMALL,
        )
    assert len(recorder.steps) == 20 and len(asked) <= 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("kind", [ConstGate, SharedGate, DiagGate, GRU, LSTM])
def test_on_cuda(kind):
    """The losses are those of the CPU, and steps between looks do not make the host wait."""
    waits, losses = [], []
    options = {"injection": StableInjection(MASK), "clip": 1.0, "read_every": 100}
    train(lambda: kind(3, 6).cuda(), TASK, steps=2, **SMALL, **options)
    for steps in (5, 20):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.set_sync_debug_mode("warn")
            try:
                recorders = [UpdateRecorder(MASK, records=30)]
                result = train(lambda: kind(3, 6).cuda(), TASK, steps=steps, recorders=recorders, **SMALL, **options)
            finally:
                torch.cuda.set_sync_debug_mode("default")
        waits.append(len(caught))
        losses.append(result.loss)
    assert waits[0] == waits[1]
    assert np.array_equal(losses[0], losses[1][:5])
    there = train(lambda: kind(3, 6), TASK, steps=5, **SMALL, **options).loss
    assert losses[0] == pytest.approx(there, rel=1e-3)


def test_another_training_is_not_gone_on_with(tmp_path):
    train(make, TASK, steps=2, out=tmp_path, **SMALL)
    changes = [
        ({"lr": 0.5}, "'optimizer'"),
        ({"clip": 1.0}, "'clip'"),
        ({"seed": 12}, "'seed'"),
        ({"batch_size": 5}, "'batch_size'"),
        ({"injection": StableInjection(MASK)}, "'injection'"),
    ]
    for change, key in changes:
        with pytest.raises(CheckpointError, match=f"key {key}"):
            train(make, TASK, steps=3, out=tmp_path, **(SMALL | change))
    with pytest.raises(CheckpointError, match="key 'module'"):
        train(lambda: DiagGate(3, 7), TASK, steps=3, out=tmp_path, **SMALL)
    with pytest.raises(CheckpointError, match="key 'task'"):
        train(make, DelayedRegression(3, (2,), (1.0,)), steps=3, out=tmp_path, **SMALL)
    with pytest.raises(ParameterError, match="resume=False"):
        train(make, TASK, steps=3, out=tmp_path, resume=False, **SMALL)
    (tmp_path / "step-00000002.pt").write_bytes(b"PK")
    with pytest.raises(CheckpointError, match=r"step-00000002\.pt"):
        train(make, TASK, steps=3, out=tmp_path, **SMALL)


def test_a_checkpoint_never_runs_code(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/ran",)

    torch.save({"format": 1, "model": Evil()}, tmp_path / "step-00000001.pt")
    with pytest.raises(CheckpointError):
        train(make, TASK, steps=2, out=tmp_path, **SMALL)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"steps": 0}, "steps=0"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"length": 4}, "length=4"),
        ({"lr": -1.0}, "lr=-1"),
        ({"clip": 0.0}, "clip=0"),
        ({"optimizer": "lion"}, "optimizer='lion'"),
        ({"optimizer_options": {"beta": 1}}, "optimizer='adamw' with"),
        ({"optimizer": lambda parameters, lr: 3}, "must make a torch optimizer"),
        ({"checkpoints": 2}, "checkpoints needs out="),
        ({"checkpoints": [3, 2]}, r"checkpoints\[1\]=2"),
        ({"sequences": 0}, "sequences=0"),
        ({"seed": "x"}, "rng='x'"),
        ({"recorders": [3]}, "recorders has a int"),
        ({"read_every": 0}, "read_every=0"),
        ({"module": 3}, "module is a int"),
        ({"module": lambda: 3}, "module made a int"),
        ({"module": lambda: DiagGate(3, 6, 2)}, r"predicts \(4, 8, 2\)"),
        ({"module": torch.nn.Identity}, "no parameter"),
    ],
)
def test_bad_arguments_are_named(options, name):
    full = {"module": make, "steps": 2} | SMALL | options
    with pytest.raises(ParameterError, match=name):
        train(full.pop("module"), TASK, **full)


def test_a_factory_and_a_module_that_stands(tmp_path):
    def factory(parameters, lr):
        return torch.optim.SGD(parameters, lr=lr, momentum=0.9)

    named = train(make, TASK, steps=3, optimizer="momentum", **SMALL)
    assert same(named, train(make, TASK, steps=3, optimizer=factory, **SMALL))
    module = make().double()
    frozen = module.Wx.weight.requires_grad_(False).clone()
    result = train(module, TASK, steps=3, **SMALL)
    assert result.module is module and torch.equal(module.Wx.weight, frozen) and module.Wh.weight.dtype == torch.float64


def test_streams():
    streams = Streams(5)
    draws = {tuple(streams.generator(stream, i).integers(0, 2**63, 2)) for stream in Stream for i in range(50)}
    assert len(draws) == 300
    assert Streams.from_key(streams.key).torch_seed(Stream.MODULE, 2) == streams.torch_seed(Stream.MODULE, 2)
    with pytest.raises(ParameterError, match=r"rng=1\.5"):
        Streams(1.5)


KILLED = """
import sys, numpy as np
import levycollapse.training as training
from levycollapse.networks import DiagGate
task = training.DelayedRegression(3, (1, 4), (0.5, 1.0))
mask = np.arange(6) < 2
recorder = training.UpdateRecorder(mask, records=200)
training.train(
    lambda: DiagGate(3, 6), task, steps=200, batch_size=4, length=8, seed=11, sequences=50, checkpoints=20,
    injection=training.StableInjection(mask, scale=0.1), recorders=[recorder], out=sys.argv[1],
)
recorder.save(sys.argv[1] + "/increments.npz")
"""


@pytest.mark.full
def test_killed_at_random_moments_it_ends_in_the_same_bits(tmp_path):
    def start(out):
        return subprocess.Popen([sys.executable, "-W", "error", "-c", KILLED, str(out)])

    assert start(tmp_path / "whole").wait() == 0
    rng, out, kills = np.random.default_rng(0), tmp_path / "killed", 0
    for wanted in np.sort(rng.choice(np.arange(1, 10), 2, replace=False)) * 20:
        process = start(out)
        # Let it come past a random checkpoint, then stop it wherever it is.
        while process.poll() is None and not (out / f"step-{wanted:08d}.pt").exists():
            time.sleep(0.002)
        time.sleep(rng.random() * 0.05)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills == 2
    assert start(out).wait() == 0
    first, second = (
        torch.load(tmp_path / name / "step-00000200.pt", weights_only=True) for name in ("whole", "killed")
    )
    assert first["about"] == second["about"]
    for part in ("model", "losses", "optimizer"):
        assert _equal(first[part], second[part])
    with np.load(tmp_path / "whole" / "increments.npz") as a, np.load(out / "increments.npz") as b:
        assert all(np.array_equal(a[key], b[key]) for key in a.files)
    assert not list(out.glob(".*.part"))


def _equal(first, second):
    if isinstance(first, torch.Tensor):
        return torch.equal(first, second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_equal(value, second[key]) for key, value in first.items())
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(map(_equal, first, second))
    return first == second


def test_the_error_is_public():
    assert lc.TrainingError is TrainingError
