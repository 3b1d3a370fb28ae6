from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from levycollapse import ParameterError  # noqa: E402
from levycollapse.networks import DiagGate, SharedGate  # noqa: E402
from levycollapse.training import (  # noqa: E402
    DelayedRegression,
    StableInjection,
    UpdateRecorder,
    slow_units,
    train,
)
from levycollapse.training.injection import Injector  # noqa: E402

TASK = DelayedRegression(3, (1, 4), (0.5, 1.0))
MASK = np.arange(8) < 3


def trained(cell=DiagGate, seed=1, steps=6, **options):
    return train(lambda: cell(3, 8), TASK, steps=steps, batch_size=2, length=8, seed=seed, **options)


def test_noise_is_symmetric_stable_before_the_taper():
    x = StableInjection(MASK, alpha=1.5, taper="none").draw(200_000, rng=2)
    for k in (0.3, 1.0, 2.0):
        exact = np.exp(-(k**1.5))
        assert np.mean(np.cos(k * x)) == pytest.approx(
            exact, abs=4 * np.sqrt((1 + np.exp(-((2 * k) ** 1.5))) / 2 / x.size)
        )
        assert np.mean(np.sin(k * x)) == pytest.approx(0, abs=4 * np.sqrt(0.5 / x.size))
    assert np.isfinite(x).all()


def test_tapers():
    bare, soft, hard = (
        StableInjection(MASK, alpha=1.2, taper=taper, limit=4.0).draw(5000, rng=3) for taper in ("none", "soft", "hard")
    )
    assert np.array_equal(soft, 4 * np.tanh(bare / 4)) and np.array_equal(hard, np.clip(bare, -4, 4))
    assert abs(hard).max() == 4 and abs(soft).max() <= 4 < abs(bare).max()


def test_scale_is_relative_to_the_update_of_each_tensor():
    """Over many steps noise/rms has the stable characteristic function, for tensors of very unlike updates."""
    module = torch.nn.ParameterDict({"a": torch.zeros(8, 400), "b": torch.zeros(8), "readout": torch.zeros(5, 8)})
    injector = Injector(StableInjection(MASK, alpha=1.5, scale=0.5, taper="none"), module)
    injector.look()
    collected = {"a": [], "b": []}
    torch.manual_seed(0)
    for step in range(1, 60):
        injector.before_update()
        updates = {"a": 1e-3 * torch.randn(8, 400), "b": 10 * torch.randn(8)}
        with torch.no_grad():
            for name, update in updates.items():
                module[name] += update
        updated = {name: module[name].detach().clone() for name in updates}
        for name, (rows, values) in injector.after_update(step, np.random.default_rng(step)).items():
            changed = module[name].detach() - updated[name]
            assert rows.tolist() == [0, 1, 2] and not changed[3:].any()
            assert torch.allclose(changed[:3], values, rtol=1e-3, atol=1e-4 * updates[name].std())
            collected[name].append((values / updates[name][:3].square().mean().sqrt()).flatten().numpy())
    assert not module["readout"].any()
    for parts in collected.values():
        x = np.concatenate(parts)
        assert np.mean(np.cos(x)) == pytest.approx(np.exp(-(0.5**1.5)), abs=4 / np.sqrt(2 * x.size))


def test_only_chosen_rows_of_chosen_tensors_are_touched():
    recorder = UpdateRecorder(np.ones(8, bool), coordinates=10_000, records=6)
    trained(injection=StableInjection(MASK, scale=1.0), recorders=[recorder])
    total, injected = recorder.increments(), recorder.injected()
    assert "out.weight" not in total and set(total) == {
        "Wx.weight",
        "Wx.bias",
        "Wh.weight",
        "Ws.weight",
        "Ws.bias",
        "Us.weight",
    }
    for name, noise in injected.items():
        inside = noise["unit"] < 3
        assert (noise.values[inside] != 0).all() and not noise.values[~inside].any()
        assert abs(total[name].values).max() > 0


def test_shared_gate_has_no_rows_for_its_gate():
    recorder = UpdateRecorder(MASK, records=2)
    trained(SharedGate, recorders=[recorder])
    assert set(recorder.increments()) == {"Wx.weight", "Wx.bias", "Wh.weight"}


def test_stacked_gates_of_torch_take_the_mask_in_every_block():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gru, self.out = torch.nn.GRU(3, 8, batch_first=True), torch.nn.Linear(8, 1)

        def forward(self, x):
            return self.out(self.gru(x)[0])

    recorder = UpdateRecorder(MASK, coordinates=10_000, records=1)
    train(Net, TASK, steps=1, batch_size=2, length=8, seed=0, recorders=[recorder])
    rows = np.unique(recorder.increments()["gru.weight_hh_l0"]["row"])
    assert rows.tolist() == [0, 1, 2, 8, 9, 10, 16, 17, 18]


def test_noise_has_a_stream_of_its_own():
    """Scale 0 draws the noise and adds nothing: the training is that without injection, to the last bit."""
    bare, silent = trained(), trained(injection=StableInjection(MASK, scale=0.0))
    loud = trained(injection=StableInjection(MASK))
    assert np.array_equal(bare.loss, silent.loss)
    assert bare.loss[0] == loud.loss[0] and bare.loss[1] != loud.loss[1]


def test_units_may_be_asked_again():
    asked = []

    def units(module):
        asked.append(1)
        return MASK

    trained(injection=StableInjection(units, every=2))
    assert len(asked) == 1 + 3


def test_slow_units():
    zeta = np.array([0.0, -3.0, np.nan, -1.0, -2.0, -np.inf])
    assert slow_units(zeta, 0.5).tolist() == [False, True, False, False, True, False]
    assert slow_units(-np.arange(30.0), 0.1).sum() == 3
    assert slow_units(-np.arange(31.0), 0.1).sum() == 4


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: StableInjection(MASK, alpha=2.5), "alpha=2.5"),
        (lambda: StableInjection(MASK, taper="firm"), "taper='firm'"),
        (lambda: StableInjection(MASK, limit=0.0), "limit=0"),
        (lambda: StableInjection(MASK, scale=-1.0), "scale=-1"),
        (lambda: StableInjection(MASK.astype(int)), "units has type int64"),
        (lambda: StableInjection(~MASK & MASK), "units has type bool"),
        (lambda: StableInjection(MASK, every=2), "every=2"),
        (lambda: slow_units([np.nan, np.nan]), "0 finite entries"),
        (lambda: slow_units([1.0], 2.0), "fraction=2"),
        (lambda: trained(injection=StableInjection(MASK, tensors=("nothing",))), "tensors names 'nothing'"),
        (lambda: trained(injection=StableInjection(MASK, tensors=("out.weight",))), r"out.weight has shape \(1, 8\)"),
        (lambda: trained(injection=StableInjection(np.ones(7, bool))), "multiple of 7 rows"),
        (lambda: trained(injection=StableInjection(lambda module: [1, 0])), "the result of units"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ParameterError, match=name):
        call()
