"""The recurrence as one node of the graph: gradcheck, and the same loop step by step under autograd."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from levycollapse.networks import GRU, LSTM, ConstGate, DiagGate, RecurrentLayer, SharedGate, _scan  # noqa: E402

CELLS = (ConstGate, SharedGate, DiagGate, GRU, LSTM)


def made(kind, dtype=torch.float64, hidden=4, **options):
    torch.manual_seed(3)
    cell = kind(2, hidden, 2, **({"s0": 0.3} if kind in CELLS[:3] else {}), **options).to(dtype)
    for parameter in cell.parameters():
        torch.nn.init.normal_(parameter, std=0.6)
    return cell


def inputs(cell, batch=2, steps=5, dtype=torch.float64):
    torch.manual_seed(4)
    x = torch.randn(batch, steps, 2, dtype=dtype, requires_grad=True)
    size = cell.recurrent_layer().state_size
    return x, torch.randn(batch, size, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("kind", CELLS)
def test_backward_is_the_derivative(kind, monkeypatch):
    monkeypatch.setattr(_scan, "_STRETCH", 2)
    cell = made(kind, hidden=3)
    x, state = inputs(cell)
    names = [name for name, _ in cell.named_parameters()]

    def function(x, state, *values):
        return torch.func.functional_call(cell, dict(zip(names, values, strict=True)), (x, state))

    assert torch.autograd.gradcheck(function, (x, state, *cell.parameters()))


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("steps", [1, 64, 130])
def test_values_and_gradients_are_those_of_the_step_by_step_loop(kind, steps):
    cell = made(kind)
    x, state = inputs(cell, steps=steps)
    found = []
    for states in (cell(x, state)[1], RecurrentLayer.states(cell.recurrent_layer(), x, state)):
        weight = torch.linspace(-1, 1, states.numel(), dtype=torch.float64).reshape(states.shape)
        parameters = [p for name, p in cell.named_parameters() if not name.startswith("out")]
        gradients = torch.autograd.grad((states * weight).sum(), (x, state, *parameters))
        found.append((states.detach(), *gradients))
    for ours, plain in zip(*found, strict=True):
        assert torch.allclose(ours, plain, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kind", CELLS)
def test_the_graph_has_one_node_for_the_recurrence(kind):
    """A fall back to the step-by-step loop would be right, and slow."""
    cell = made(kind)
    x, state = inputs(cell)
    seen, queue = set(), [cell(x, state)[0].grad_fn]
    while queue:
        node = queue.pop()
        if node is not None and node not in seen:
            seen.add(node)
            queue.extend(after for after, _ in node.next_functions)
    assert len(seen) < 40
    assert sum(any(kind in type(node).__name__ for kind in ("_Leaky", "_LSTM", "_ResetBefore")) for node in seen) == 1


@pytest.mark.parametrize("kind", CELLS)
def test_a_norm_takes_the_step_by_step_loop(kind):
    cell = made(kind, layernorm=True)
    x, state = inputs(cell)
    assert torch.equal(cell(x, state)[1], RecurrentLayer.states(cell.recurrent_layer(), x, state))


def test_second_derivatives_are_refused_and_left_to_the_step_by_step_loop():
    cell = made(DiagGate)
    x, state = inputs(cell)
    (first,) = torch.autograd.grad(cell(x, state)[1].square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
    states = RecurrentLayer.states(cell.recurrent_layer(), x, state)
    (first,) = torch.autograd.grad(states.square().sum(), x, create_graph=True)
    first.sum().backward()
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("kind", CELLS)
def test_one_unit_one_step_one_sample(kind):
    # The diagonal gate's block of rows is as high as the shared gate's.
    cell = made(kind, hidden=1)
    x, state = inputs(cell, batch=1, steps=1)
    parameters = [p for name, p in cell.named_parameters() if not name.startswith("out")]
    ours, plain = (
        torch.autograd.grad(states.sum(), (x, state, *parameters))
        for states in (cell(x, state)[1], RecurrentLayer.states(cell.recurrent_layer(), x, state))
    )
    for a, b in zip(ours, plain, strict=True):
        assert torch.allclose(a, b, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", CELLS)
def test_gradients_of_single_samples(kind):
    cell = made(kind)
    x, _ = inputs(cell, batch=4)
    parameters = {key: value.detach() for key, value in cell.named_parameters()}

    def loss(parameters, one):
        return torch.func.functional_call(cell, parameters, (one[None],))[0].square().sum()

    together = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(parameters, x.detach())
    for k in range(4):
        alone = torch.autograd.grad(cell(x[k : k + 1])[0].square().sum(), list(cell.parameters()))
        for key, expected in zip(parameters, alone, strict=True):
            assert torch.allclose(together[key][k], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", CELLS)
def test_autocast_and_no_grad(kind):
    cell = made(kind, torch.float32)
    x, _ = inputs(cell, dtype=torch.float32)
    with torch.no_grad():
        bare = cell(x)[0]
    assert not bare.requires_grad and torch.allclose(bare, cell(x)[0], rtol=0, atol=1e-6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = cell(x)[0]
        mixed.float().square().sum().backward()
    assert torch.allclose(mixed.float(), bare, atol=0.1)
    assert torch.isfinite(x.grad).all()
