from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from torch.func import jacrev, vmap  # noqa: E402

from levycollapse.networks import LocalTerms, from_step  # noqa: E402

from .nets import D, H, cells, layer_of, stirred, torch_layers, visited  # noqa: E402

EVERY = {**torch_layers(), **cells()}
HIDDEN_ONLY = [name for name in EVERY if not name.lower().startswith("lstm")]


def by_autograd(layer, p, state):
    return vmap(jacrev(lambda s, q: layer.step(q[None], s[None])[0]))(state, p)


@pytest.mark.parametrize("name", EVERY)
def test_jacobian_is_that_of_autograd(name):
    layer = layer_of(EVERY[name])
    p, state = visited(layer)
    assert torch.allclose(layer.jacobian(p, state), by_autograd(layer, p, state), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_jacobian_is_that_of_the_module_itself(name):
    # Not of our step: torch's own forward over one step, or the written-out recurrence of the cell.
    module = EVERY[name]
    layer = layer_of(module)
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(1, D, generator=generator, dtype=torch.float64)
    state = torch.randn(1, layer.state_size, generator=generator, dtype=torch.float64)

    def one(s):
        return written_out(module, x, s[None])[0]

    expected = torch.autograd.functional.jacobian(one, state[0])
    p = layer.project(x[:, None])[:, 0]
    assert torch.allclose(layer.step(p, state), written_out(module, x, state), rtol=0, atol=1e-12)
    assert torch.allclose(layer.jacobian(p, state)[0], expected, rtol=0, atol=1e-12)


def written_out(m, x, state):
    sigmoid, tanh = torch.sigmoid, torch.tanh
    if isinstance(m, torch.nn.RNNBase):
        if isinstance(m, torch.nn.LSTM):
            _, (h, c) = m(x[:, None], (state[None, :, :H].contiguous(), state[None, :, H:].contiguous()))
            return torch.cat([h[0], c[0]], 1)
        return m(x[:, None], state[None].contiguous())[1][0]
    name, h = type(m).__name__, state[:, :H]

    def norm(u, module):
        return u if module is None else module(u)

    if name == "LSTM":
        c = state[:, H:]
        i, f, o = (sigmoid(w(x) + u(h)) for w, u in ((m.Wi, m.Ui), (m.Wf, m.Uf), (m.Wo, m.Uo)))
        c = f * c + i * tanh(norm(m.Wg(x) + m.Ug(h), m.ln_g))
        return torch.cat([o * tanh(c), c], 1)
    if name == "GRU":
        z, r = sigmoid(m.Wz(x) + m.Uz(h)), sigmoid(m.Wr(x) + m.Ur(h))
        return (1 - z) * h + z * tanh(norm(m.Wh(x) + m.Uh(r * h), m.ln_h))
    s = m.s if name == "ConstGate" else sigmoid(m.Ws(x) + m.Us(h))
    return (1 - s) * h + s * tanh(norm(m.Wx(x) + m.Wh(h), m.ln if name == "ConstGate" else m.ln_h))


@pytest.mark.parametrize("name", HIDDEN_ONLY)
def test_carry_and_correction_are_the_exact_diagonal(name):
    layer = layer_of(EVERY[name])
    p, state = visited(layer)
    terms = layer.local(p, state)
    diagonal = by_autograd(layer, p, state).diagonal(dim1=1, dim2=2)
    assert terms.readout is None
    assert torch.allclose(terms.carry + terms.correction, diagonal, rtol=0, atol=1e-12)
    # And the test can fail: the correction is not small.
    assert terms.correction.abs().max() > 0.01


@pytest.mark.parametrize("name", HIDDEN_ONLY)
def test_carry_is_the_gate(name):
    # The Jacobian with all recurrent weights removed is the carry alone.
    layer = layer_of(EVERY[name])
    p, state = visited(layer)
    terms = layer.local(p, state)
    m = EVERY[name]
    if isinstance(m, torch.nn.RNN):
        assert not terms.carry.any()
        return
    if isinstance(m, torch.nn.GRU):
        recurrent = state @ m.weight_hh_l0.T
        expected = torch.sigmoid(p[:, H : 2 * H] + recurrent[:, H : 2 * H])
    elif "Const" in name:
        expected = (1 - m.s).expand_as(terms.carry)
    elif "GRU" in name:
        expected = 1 - torch.sigmoid(p[:, :H] + m.Uz(state))
    else:
        expected = (1 - torch.sigmoid(p[:, H:] + m.Us(state))).expand_as(terms.carry)
    assert torch.allclose(terms.carry, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", [name for name in EVERY if name.lower().startswith("lstm")])
def test_lstm_cell_path_is_that_of_autograd(name):
    layer = layer_of(EVERY[name])
    x = torch.randn(4, 6, D, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    state, previous = layer.initial_state(4), None
    for p in layer.project(x).unbind(1):
        after, terms = layer.advance(p, state, previous)
        h, c = state.chunk(2, 1)
        # The output gate of the step before, held fixed while its cell moves.
        o = torch.where(c == 0, torch.zeros_like(c), h / torch.tanh(c))

        def through_cell(c, o, p):
            s = torch.cat([o * torch.tanh(c), c])
            return layer.step(p[None], s[None])[0, H:]

        path = vmap(jacrev(through_cell))(c, o, p).diagonal(dim1=1, dim2=2)
        assert torch.allclose(terms.carry + terms.correction, path, rtol=0, atol=1e-12)
        to_hidden = vmap(jacrev(lambda c, o: o * torch.tanh(c)))(after[:, H:], after[:, :H] / torch.tanh(after[:, H:]))
        assert torch.allclose(terms.readout, to_hidden.diagonal(dim1=1, dim2=2), rtol=0, atol=1e-12)
        state, previous = after, terms
    # The h block of the Jacobian at the first step is not in the cell path.
    assert previous.correction.abs().max() > 0.01


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_advance_is_step_and_local(name, dtype):
    layer = layer_of({**torch_layers(dtype), **cells(dtype)}[name])
    p, state = visited(layer)
    assert layer.dtype == dtype and state.dtype == dtype
    before = LocalTerms(*(torch.rand(4, H, dtype=torch.float64) for _ in range(3)))
    after, terms = layer.advance(p, state, before)
    alone = layer.local(p, state, before)
    assert torch.equal(after, layer.step(p, state)) and after.dtype == dtype
    for one, two in ((terms.carry, alone.carry), (terms.correction, alone.correction)):
        assert torch.equal(one, two) and one.dtype == torch.float64 and one.shape == (4, H)
    jacobian = layer.jacobian(p, state)
    assert jacobian.dtype == torch.float64 and torch.isfinite(jacobian).all()


def test_terms_of_float32_are_those_of_float64_to_its_precision():
    for name, wide in EVERY.items():
        narrow = layer_of({**torch_layers(torch.float32), **cells(torch.float32)}[name])
        p, state = visited(layer_of(wide))
        a, b = layer_of(wide).jacobian(p, state), narrow.jacobian(p.float(), state.float())
        assert torch.allclose(a, b, rtol=0, atol=2e-5), name


def test_slow_gates_keep_their_digits_in_float32():
    # 1 - sigmoid(a) in float32 is 0 from a = 17 on; the carry is computed as sigmoid(-a) in float64.
    m = torch.nn.GRU(D, H, batch_first=True)
    with torch.no_grad():
        m.bias_ih_l0[H : 2 * H] = 25.0
    terms = layer_of(m).local(*visited(layer_of(m)))
    assert ((1 - terms.carry).log() < -20).all() and (terms.carry < 1).all()


def test_own_step_function():
    m = stirred(torch.nn.GRUCell(D, H).double())
    ours = layer_of(m)
    layer = from_step(m, H, dtype=torch.float64)
    _, state = visited(ours)
    x = torch.randn(4, D, dtype=torch.float64)
    assert torch.equal(layer.project(x[:, None])[:, 0], x)
    assert torch.allclose(layer.jacobian(x, state), ours.jacobian(ours.project(x[:, None])[:, 0], state), atol=1e-12)
    terms = layer.local(x, state)
    assert not terms.carry.any()
    carry = ours.local(ours.project(x[:, None])[:, 0], state).carry
    split = from_step(m, H, dtype=torch.float64, carry=lambda x, h: carry).local(x, state)
    assert torch.equal(split.carry, carry) and torch.allclose(split.carry + split.correction, terms.correction)
    assert not layer.step(x, state).requires_grad


def test_own_step_function_with_two_states():
    m = stirred(torch.nn.LSTMCell(D, H).double())
    ours = layer_of(m)

    def step(x, s):
        return torch.cat(m(x, (s[:, :H], s[:, H:])), 1)

    layer = from_step(step, H, state_size=2 * H, dtype=torch.float64, kind="my-lstm")
    x, state = torch.randn(4, D, dtype=torch.float64), torch.randn(4, 2 * H, dtype=torch.float64)
    assert torch.allclose(layer.jacobian(x, state), ours.jacobian(ours.project(x[:, None])[:, 0], state), atol=1e-12)
    assert layer.local(x, state).correction.shape == (4, H) and layer.kind == "my-lstm"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", EVERY)
def test_cuda(name):
    import copy

    layer = layer_of(copy.deepcopy(EVERY[name]).cuda())
    here = layer_of(EVERY[name])
    p, state = visited(here)
    assert torch.allclose(layer.jacobian(p.cuda(), state.cuda()).cpu(), here.jacobian(p, state), rtol=0, atol=1e-10)
    assert torch.allclose(layer.step(p.cuda(), state.cuda()).cpu(), here.step(p, state), rtol=0, atol=1e-10)
