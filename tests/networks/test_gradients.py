"""The gradients that are written out, against autograd through one step after another."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from levycollapse.networks import _unrolled  # noqa: E402

from .nets import CELLS, D, H, cells, stirred  # noqa: E402

PLAIN = {name: module for name, module in cells().items() if not name.endswith("-norm")}
B, T = 4, 9


def by_steps(module, x, state):
    layer = module.recurrent_layer()
    state = layer.initial_state(len(x)) if state is None else state
    visited = []
    for p in layer.project(x).unbind(1):
        state = layer.step(p, state)
        visited.append(state)
    states = torch.stack(visited, 1)
    return module.out(layer.hidden(states)), states


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize(("given", "piece"), [(False, 2**16), (True, 2**16), (True, 1), (True, 2 * B * H + 1)])
def test_gradients_are_those_of_autograd(name, given, piece, monkeypatch):
    # Pieces of all steps, of one, and of two (one for the LSTM).
    monkeypatch.setattr(_unrolled, "_PIECE", piece)
    module = PLAIN[name]
    x = torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    size = module.recurrent_layer().state_size
    state = torch.randn(B, size, dtype=torch.float64, requires_grad=True) if given else None
    weights = torch.randn(B, T, 1, dtype=torch.float64), torch.randn(B, T, size, dtype=torch.float64)
    leaves = [x, *module.parameters(), *([state] if given else [])]
    results = []
    for run in (module, lambda x, state: by_steps(module, x, state)):
        y, states = run(x, state)
        loss = (weights[0] * y).sum() + (weights[1] * states.square()).sum()
        results.append((y, states, *torch.autograd.grad(loss, leaves)))
    for ours, theirs in zip(*results, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", PLAIN)
def test_gradients_are_those_of_differences(name):
    module = stirred(PLAIN[name], 0.0)
    x = torch.randn(2, 4, D, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: module(x)[1], (x,))


@pytest.mark.parametrize("cell", CELLS)
def test_one_unit_one_step_one_sample(cell):
    module = stirred(cell(1, 1).double())
    x = torch.randn(1, 1, 1, dtype=torch.float64, requires_grad=True)
    for weight in module.parameters():
        ours, theirs = (
            torch.autograd.grad(run(x, None)[0].sum(), weight, allow_unused=True)[0]
            for run in (module, lambda x, state: by_steps(module, x, state))
        )
        assert ours is None or torch.allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", PLAIN)
def test_gradients_of_single_samples(name):
    from torch.func import functional_call, grad, vmap

    module = PLAIN[name]
    parameters = {key: value.detach() for key, value in module.named_parameters()}
    x = torch.randn(B, T, D, dtype=torch.float64)

    def loss(parameters, one):
        return functional_call(module, parameters, (one[None],))[0].square().sum()

    together = vmap(grad(loss), in_dims=(None, 0))(parameters, x)
    for k in range(B):
        alone = torch.autograd.grad(module(x[k : k + 1])[0].square().sum(), list(module.parameters()))
        for key, expected in zip(parameters, alone, strict=True):
            assert torch.allclose(together[key][k], expected, rtol=0, atol=1e-12)


def test_second_derivatives_are_refused():
    module = PLAIN["DiagGate"]
    x = torch.randn(B, T, D, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(module(x)[0].sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_nothing_is_kept_without_gradients():
    module = PLAIN["LSTM"]
    with torch.no_grad():
        y, states = module(torch.zeros(B, T, D, dtype=torch.float64))
    assert not y.requires_grad and states.shape == (B, T, 2 * H)
