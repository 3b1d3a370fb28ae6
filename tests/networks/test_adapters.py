from __future__ import annotations

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence  # noqa: E402

from levycollapse.errors import CheckpointError, ParameterError  # noqa: E402
from levycollapse.networks import RecurrentLayer, from_step, read_network  # noqa: E402
from levycollapse.networks._stack import reverse  # noqa: E402

from .nets import CELLS, D, H, stirred, visited  # noqa: E402

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}
KINDS = {
    "rnn": lambda **k: nn.RNN(D, H, **k),
    "relu": lambda **k: nn.RNN(D, H, nonlinearity="relu", **k),
    "gru": lambda **k: nn.GRU(D, H, **k),
    "lstm": lambda **k: nn.LSTM(D, H, **k),
}
T, B = 11, 4


def random(*shape, dtype=torch.float64, seed=7):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def last_level(network, inputs, lengths=None):
    """Outputs (B, T, directions H) of the last layer, as torch would give them, and the final states."""
    runs = list(network.runs(inputs, lengths))
    assert [(run.layer.layer, run.layer.direction) for run in runs] == [
        (k, d) for k, level in enumerate(network.layers) for d in range(len(level))
    ]
    outputs, finals = [], []
    for run in runs:
        states = run.layer.states(run.inputs, run.initial)
        finals.append(states[torch.arange(len(run.lengths)), run.lengths - 1])
        if run.layer.layer == len(network.layers) - 1:
            hidden = run.layer.hidden(states)
            outputs.append(hidden if run.layer.direction == 0 else reverse(hidden, run.lengths))
    return torch.cat(outputs, 2), finals


def agrees(ours, theirs):
    # Of the largest state, which a ReLU does not bound.
    size = max(1.0, theirs.abs().max().item())
    return torch.allclose(ours, theirs, rtol=0, atol=TOLERANCE[theirs.dtype] * size) and ours.dtype == theirs.dtype


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["plain", "batch_first", "no bias", "deep", "deep both ways"])
def test_hidden_states_are_those_of_torch(kind, dtype, layout):
    options = {
        "plain": {},
        "batch_first": {"batch_first": True},
        "no bias": {"bias": False},
        "deep": {"num_layers": 3, "dropout": 0.5},
        "deep both ways": {"num_layers": 2, "bidirectional": True, "batch_first": True},
    }[layout]
    m = stirred(KINDS[kind](**options), 0.3).to(dtype).eval()
    first = options.get("batch_first", False)
    x = random(*((B, T, D) if first else (T, B, D)), dtype=dtype)
    with torch.no_grad():
        y, final = m(x)
    ours, finals = last_level(read_network(m), x)
    assert agrees(ours, y if first else y.transpose(0, 1))
    h = final[0] if kind == "lstm" else final
    assert agrees(torch.stack([state[:, :H] for state in finals]), h)
    if kind == "lstm":
        assert agrees(torch.stack([state[:, H:] for state in finals]), final[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("both", [False, True])
def test_packed_and_padded_sequences(kind, both):
    m = stirred(KINDS[kind](num_layers=2, bidirectional=both, batch_first=True).double(), 0.3)
    x, lengths = random(B, T, D), torch.tensor([5, T, 1, 8])
    packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    y, _ = pad_packed_sequence(m(packed)[0], batch_first=True)
    valid = torch.arange(T) < lengths[:, None]
    network = read_network(m)
    garbage = torch.where(valid[:, :, None], x, torch.full_like(x, 1e3))
    for inputs, given in ((packed, None), (garbage, lengths), (garbage, [5, T, 1, 8]), (garbage.numpy(), lengths)):
        ours, _ = last_level(network, inputs, given)
        assert torch.allclose(ours[valid], y[valid], rtol=0, atol=1e-12)
    for run in network.runs(packed):
        assert run.lengths.tolist() == lengths.tolist()


def test_backward_inputs_come_reversed_valid_steps_first():
    m = nn.GRU(D, H, bidirectional=True, batch_first=True)
    x = random(2, 4, D, dtype=torch.float32)
    forward, backward = read_network(m).runs(x, [4, 2])
    assert torch.equal(forward.inputs, x)
    assert torch.equal(backward.inputs[0], x[0].flip(0))
    assert torch.equal(backward.inputs[1, :2], x[1, :2].flip(0))


@pytest.mark.parametrize("kind", KINDS)
def test_initial_state_with_the_inputs(kind):
    m = stirred(KINDS[kind](num_layers=2, bidirectional=True, batch_first=True).double(), 0.3)
    h = random(4, B, H, seed=1)
    state = (h, random(4, B, H, seed=2)) if kind == "lstm" else h
    x = random(B, T, D)
    ours, _ = last_level(read_network(m), (x, state))
    assert agrees(ours, m(x, state)[0])


def test_unbatched_and_arrays():
    m = nn.GRU(D, H).double()
    x = random(T, D)
    ours, _ = last_level(read_network(m), x.numpy())
    assert agrees(ours[0], m(x)[0])


@pytest.mark.parametrize("cell", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
@pytest.mark.parametrize("bias", [False, True])
def test_cells_of_torch(cell, bias):
    m = stirred(cell(D, H, bias=bias).double())
    x, state, expected = random(B, T, D), None, []
    for t in range(T):
        state = m(x[:, t], state)
        expected.append(state[0] if cell is nn.LSTMCell else state)
    ours, _ = last_level(read_network(m), x)
    assert agrees(ours, torch.stack(expected, 1))


@pytest.mark.parametrize("cell", CELLS)
def test_cells_of_the_package(cell):
    m = stirred(cell(D, H, layernorm=True).double())
    x = random(B, T, D)
    y, states = m(x)
    network = read_network(m)
    _, finals = last_level(network, x)
    assert agrees(finals[0], states[:, -1])
    # Half, then the rest from the state reached.
    first, middle = m(x[:, :5])
    second, end = m(x[:, 5:], middle[:, -1])
    assert agrees(end[:, -1], states[:, -1]) and agrees(torch.cat([first, second], 1), y)
    _, finals = last_level(network, (x[:, 5:], middle[:, -1]))
    assert agrees(finals[0], states[:, -1])
    assert y.shape == (B, T, 1)


def test_initialisation():
    from levycollapse.networks import GRU, LSTM, ConstGate, DiagGate, SharedGate

    torch.manual_seed(0)
    for kind in (SharedGate, DiagGate):
        m = kind(D, H, orthogonal=True)
        assert torch.allclose(torch.sigmoid(m.Ws(torch.ones(1, D)) + m.Us(torch.ones(1, H))), torch.tensor(0.005))
        assert torch.allclose(m.Wh.weight @ m.Wh.weight.T, torch.eye(H), atol=1e-6)
        assert torch.allclose(m.Wx.weight.T @ m.Wx.weight, torch.eye(D), atol=1e-6)
        assert not m.Wx.bias.any() and not m.out.bias.any()
    assert ConstGate(D, H, s0=0.25).s == 0.25
    assert all(not p.any() for m in (GRU(D, H), LSTM(D, H)) for n, p in m.named_parameters() if n.endswith("bias"))
    assert [n for n, _ in LSTM(D, H).named_children()] == ["Wi", "Ui", "Wf", "Uf", "Wo", "Uo", "Wg", "Ug", "out"]
    assert [n for n, _ in DiagGate(D, H, layernorm=True).named_children()] == ["Wx", "Wh", "ln_h", "Ws", "Us", "out"]
    for bad in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(ParameterError, match="s0"):
            DiagGate(D, H, s0=bad)
    for sizes in ((0, H), (D, 0), (D, 1.5), (True, H)):
        with pytest.raises(ParameterError, match="_size"):
            GRU(*sizes)
    with pytest.raises(ParameterError, match="output_size"):
        GRU(D, H, 0)


class Model(nn.Module):
    """A larger model: an embedding, a recurrent encoder behind dropout, another recurrent part, a head."""

    def __init__(self, encoder):
        super().__init__()
        self.embedding = nn.Embedding(10, D)
        self.dropout = nn.Dropout(0.5)
        self.encoder = nn.ModuleDict({"lstm": encoder, "decoder": nn.GRU(H, H, batch_first=True)})
        self.norm = nn.BatchNorm1d(H)
        self.register_buffer("seen", torch.zeros(()))
        self.saw = None

    def forward(self, tokens, state=None, lengths=None):
        x = self.dropout(self.embedding(tokens))
        self.seen += 1
        self.saw = x
        if lengths is not None:
            x = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, _ = self.encoder["lstm"](x, state)
        if lengths is not None:
            y, _ = pad_packed_sequence(y, batch_first=True)
        self.out = y
        z, _ = self.encoder["decoder"](y)
        return self.norm(z[:, -1])


TOKENS = torch.randint(10, (B, T), generator=torch.Generator().manual_seed(0))


def test_submodule_sees_what_the_model_gives_it():
    torch.manual_seed(0)
    model = Model(nn.LSTM(D, H, num_layers=2, batch_first=True)).double()
    ours, _ = last_level(read_network(model, submodule="encoder.lstm"), TOKENS)
    assert agrees(ours, model.out)
    state = (random(2, B, H, seed=1), random(2, B, H, seed=2))
    for inputs in ((TOKENS, state), {"tokens": TOKENS, "state": state}):
        ours, _ = last_level(read_network(model, submodule="encoder.lstm"), inputs)
        assert agrees(ours, model.out)
    lengths = torch.tensor([3, T, 7, 1])
    valid = torch.arange(T) < lengths[:, None]
    ours, _ = last_level(read_network(model, submodule="encoder.lstm"), {"tokens": TOKENS, "lengths": lengths})
    assert torch.allclose(ours[valid], model.out[valid], rtol=0, atol=1e-12)


def test_model_is_left_as_it_was_found():
    torch.manual_seed(0)
    model = Model(nn.LSTM(D, H, batch_first=True))
    model.train()
    model.dropout.eval()
    model(TOKENS).sum().backward()
    before = copy.deepcopy(model.state_dict())
    modes = [m.training for m in model.modules()]
    grads = [p.grad.clone() for p in model.parameters()]
    hooks = [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()]
    random_state = torch.get_rng_state()
    network = read_network(model, submodule="encoder.lstm")
    list(network.runs(TOKENS))
    with pytest.raises(IndexError):
        list(network.runs(TOKENS + 100))
    assert [m.training for m in model.modules()] == modes
    assert all(torch.equal(a, p.grad) for a, p in zip(grads, model.parameters(), strict=True))
    assert [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()] == hooks
    assert torch.equal(torch.get_rng_state(), random_state)
    after = model.state_dict()
    assert all(torch.equal(before[key], after[key]) for key in before)
    # And the network keeps the weights that it was read with.
    kept = network.layers[0][0].weight_hh.clone()
    with torch.no_grad():
        model.encoder["lstm"].weight_hh_l0.zero_()
    assert torch.equal(network.layers[0][0].weight_hh, kept)


class Loop(nn.Module):
    """A cell called once a step; `reset` starts anew in the middle, `spoil` changes the state between calls."""

    def __init__(self, cell, reset=None, spoil=False, chunk=None):
        super().__init__()
        self.cell, self.reset, self.spoil, self.chunk = cell, reset, spoil, chunk

    def forward(self, x, state=None):
        self.outputs = []
        steps = self.chunk or 1
        for t in range(0, x.shape[1], steps):
            if t == self.reset:
                state = None
            if isinstance(self.cell, nn.RNNBase):
                y, state = self.cell(x[:, t : t + steps], state)
                self.outputs += list(y.unbind(1))
            else:
                state = self.cell(x[:, t], state)
                self.outputs.append(state[0] if isinstance(state, tuple) else state)
            if self.spoil:
                state = 0.9 * state
        return self.outputs[-1]


@pytest.mark.parametrize("cell", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
def test_a_loop_of_ones_own(cell):
    loop = Loop(stirred(cell(D, H).double()))
    x = random(B, T, D)
    h = random(B, H, seed=3)
    for inputs in (x, (x, (h, random(B, H, seed=4)) if cell is nn.LSTMCell else h)):
        (run,) = read_network(loop).runs(inputs)
        assert torch.equal(run.inputs, x)
        assert agrees(run.layer.hidden(run.layer.states(run.inputs, run.initial)), torch.stack(loop.outputs, 1))


def test_a_loop_over_pieces_of_a_sequence():
    loop = Loop(stirred(nn.LSTM(D, H, num_layers=2, batch_first=True).double(), 0.3), chunk=4)
    x = random(B, T, D)
    ours, _ = last_level(read_network(loop), x)
    assert agrees(ours, torch.stack(loop.outputs, 1))


def test_a_loop_that_starts_anew():
    loop = Loop(stirred(nn.GRUCell(D, H).double()), reset=4)
    x = random(B, T, D)
    (run,) = read_network(loop).runs(x)
    assert run.lengths.tolist() == [4] * B + [T - 4] * B
    hidden = run.layer.states(run.inputs, run.initial)
    assert agrees(hidden[:B, :4], torch.stack(loop.outputs[:4], 1))
    assert agrees(hidden[B:, : T - 4], torch.stack(loop.outputs[4:], 1))


def test_a_loop_that_changes_the_state_is_refused():
    loop = Loop(nn.GRUCell(D, H).double(), spoil=True)
    with pytest.raises(ParameterError, match="a state other than the one that it had returned"):
        list(read_network(loop).runs(random(B, T, D)))


def test_lengths_of_a_model_that_does_not_pack():
    torch.manual_seed(0)
    model = Model(nn.LSTM(D, H, batch_first=True)).double()
    (run,) = read_network(model, submodule="encoder.lstm").runs(TOKENS, [3, T, 7, 1])
    assert run.lengths.tolist() == [3, T, 7, 1]
    model = Model(nn.LSTM(D, H, batch_first=True, bidirectional=True)).double()
    model.encoder["decoder"] = nn.GRU(2 * H, H, batch_first=True).double()
    with pytest.raises(ParameterError, match="pack the sequences in the model"):
        list(read_network(model, submodule="encoder.lstm").runs(TOKENS, [3, T, 7, 1]))
    with pytest.raises(ParameterError, match="packs its sequences itself"):
        list(read_network(model, submodule="encoder.lstm").runs({"tokens": TOKENS, "lengths": [3, T, 7, 1]}, [T] * B))


def test_parametrized_weights():
    m = nn.GRU(D, H, batch_first=True).double()
    nn.utils.parametrizations.weight_norm(m, "weight_hh_l0")
    x = random(B, T, D)
    with torch.no_grad():
        m.parametrizations.weight_hh_l0.original0.mul_(1.5)
        y, _ = m(x)
    assert agrees(last_level(read_network(m), x)[0], y)


def test_parametrizations_that_change_when_read_are_left_alone():
    m = nn.GRU(D, H, batch_first=True).double()
    nn.utils.parametrizations.spectral_norm(m, "weight_hh_l0")
    before = copy.deepcopy(m.state_dict())
    layers = read_network(m)
    assert m.training and all(torch.equal(value, before[name]) for name, value in m.state_dict().items())
    x = random(B, T, D)
    with torch.no_grad():
        y, _ = m.eval()(x)
    assert agrees(last_level(layers, x)[0], y)


def test_what_is_asked_for_must_be_there():
    model = Model(nn.LSTM(D, H, batch_first=True))
    with pytest.raises(ParameterError, match=r"'encoder\.decoder', 'encoder\.lstm'; choose one"):
        read_network(model)
    with pytest.raises(ParameterError, match=r"recurrent parts are 'encoder\.decoder', 'encoder\.lstm'"):
        read_network(model, submodule="encoder.gru")
    with pytest.raises(ParameterError, match="choose one of them"):
        read_network(model, submodule="encoder")
    with pytest.raises(ParameterError, match="without a recurrent part"):
        read_network(nn.Linear(2, 2))
    with pytest.raises(ParameterError, match="proj_size=2"):
        read_network(nn.LSTM(D, H, proj_size=2))
    with pytest.raises(ParameterError, match="source is a int"):
        read_network(3)
    with pytest.raises(ParameterError, match="nonlinearity"):
        read_network(nn.GRU(D, H), nonlinearity="sin")
    broken = nn.GRU(D, H)
    with torch.no_grad():
        broken.weight_hh_l0[3, 2] = float("nan")
    with pytest.raises(CheckpointError, match=r"module GRU: key 'weight_hh_l0': found nan at \[3, 2\]"):
        read_network(broken)

    class Silent(nn.Module):
        def __init__(self):
            super().__init__()
            self.gru = nn.GRU(D, H)

        def forward(self, x):
            return x

    with pytest.raises(ParameterError, match="'gru' was not called"):
        list(read_network(Silent()).runs(torch.zeros(2, 3, D)))


@pytest.mark.parametrize(
    ("inputs", "lengths", "message"),
    [
        (np.zeros((B, T, D + 1)), None, "4 features; the network takes 3"),
        (np.zeros((B, T)), None, "2 features|11 features"),
        (np.zeros(3), None, r"must be \(B, T, D\)"),
        (np.zeros((0, T, D)), None, "not empty"),
        (np.full((B, T, D), np.nan), None, r"inputs\[0, 0, 0\]=nan"),
        (np.zeros((B, T, D), dtype=complex), None, "real numbers"),
        (np.zeros((B, T, D), dtype=bool), None, "real numbers"),
        ("text", None, "inputs is a str"),
        (np.zeros((B, T, D)), [1, 2], "4 integers"),
        (np.zeros((B, T, D)), [1.0] * B, "4 integers"),
        (np.zeros((B, T, D)), [1, 2, 0, 1], r"lengths\[2\]=0 must be from 1 to"),
        (np.zeros((B, T, D)), [1, T + 1, 1, 1], r"lengths\[1\]=12"),
        ((np.zeros((B, T, D)), torch.zeros(2, B, H)), None, r"inputs\[1\] has shape"),
        ((np.zeros((B, T, D)), torch.zeros(1, B + 1, H)), None, "for 5 sequences but inputs has 4"),
        ((np.zeros((B, T, D)), None, None), None, "tuple of 3"),
    ],
)
def test_bad_inputs(inputs, lengths, message):
    network = read_network(nn.GRU(D, H, batch_first=True))
    with pytest.raises(ParameterError, match=message):
        list(network.runs(inputs, lengths))


def test_labels():
    network = read_network(nn.LSTM(D, 2, num_layers=2, bidirectional=True))
    assert network.units == [(k, d, u) for k in range(2) for d in range(2) for u in range(2)]


@pytest.mark.parametrize("prefix", ["", "encoder.lstm.", "model_state_dict.rnn."])
@pytest.mark.parametrize("kind", KINDS)
def test_state_dict_under_any_prefix(kind, prefix):
    m = stirred(KINDS[kind](num_layers=2, bidirectional=True).double(), 0.3)
    state = {prefix + key: value for key, value in m.state_dict().items()} | {"head.weight": torch.zeros(2, 2)}
    x = random(T, B, D)
    network = read_network(state, nonlinearity="relu" if kind == "relu" else "tanh")
    assert agrees(last_level(network, x.transpose(0, 1))[0], m(x)[0].transpose(0, 1))
    assert network.layers[0][0].kind == {"relu": "rnn"}.get(kind, kind)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("norm", [False, True])
def test_state_dict_of_the_packages_cells(cell, norm):
    m = stirred(cell(D, H, layernorm=norm).double())
    x = random(B, T, D)
    network = read_network({f"net.{key}": value for key, value in m.state_dict().items()}, submodule="net")
    assert agrees(last_level(network, x)[1][0], m(x)[1][:, -1])
    assert network.layers[0][0].kind == read_network(m).layers[0][0].kind


def test_state_dict_of_a_cell_and_several():
    cell = nn.GRUCell(D, H)
    network = read_network(cell.state_dict())
    assert network.layers[0][0].kind == "gru"
    two = {f"{name}.{key}": value for name in ("a", "b") for key, value in cell.state_dict().items()}
    with pytest.raises(ParameterError, match="holds 'a', 'b'; choose one"):
        read_network(two)
    with pytest.raises(ParameterError, match="submodule='c' is not in state dict, which holds 'a', 'b'"):
        read_network(two, submodule="c")
    assert read_network(two, submodule="b").layers[0][0].hidden_size == H


def test_names_of_ones_own():
    m = nn.GRU(D, H, batch_first=True)
    odd = {"kernel": m.weight_ih_l0, "memory": m.weight_hh_l0, "shift": m.bias_ih_l0, "shift2": m.bias_hh_l0}
    keys = {"weight_ih_l0": "kernel", "weight_hh_l0": "memory", "bias_ih_l0": "shift", "bias_hh_l0": "shift2"}
    x = random(B, T, D, dtype=torch.float32)
    assert agrees(last_level(read_network(odd, keys=keys), x)[0], m(x)[0].detach())
    with pytest.raises(CheckpointError, match="key 'memori': found nothing"):
        read_network(odd, keys=keys | {"weight_hh_l0": "memori"})
    with pytest.raises(ParameterError, match="keys names 0 networks"):
        read_network(odd, keys={"weights": "kernel"})


def broken_states():
    good = nn.LSTM(D, H, num_layers=2, bidirectional=True).state_dict()

    def with_(**changes):
        return {**good, **changes}

    def without(key):
        return {k: v for k, v in good.items() if k != key}

    yield {}, "found none, expected the tensors of a recurrent network"
    yield {"fc.weight": torch.zeros(2, 2)}, "found 'fc.weight', expected"
    yield without("weight_hh_l0"), "key 'weight_hh_l0': found nothing"
    yield without("bias_hh_l1_reverse"), "key 'bias_hh_l1_reverse': found nothing"
    yield {k: v for k, v in good.items() if "_l0" not in k}, "key 'weight_hh_l0': found nothing"
    yield with_(weight_hh_l0=torch.zeros(5 * H, H)), r"found shape \(30, 6\), expected \(H, H\) of an RNN, \(3H, H\)"
    yield with_(weight_hh_l0=torch.zeros(4 * H)), r"found shape \(24,\), expected shape \(any, any\)"
    yield with_(weight_hh_l1=torch.zeros(3 * H, H)), r"found shape \(18, 6\), expected shape \(24, 6\) as in the first"
    yield with_(weight_ih_l1=torch.zeros(4 * H, H)), r"found shape \(24, 6\), expected shape \(24, 12\)"
    yield with_(weight_ih_l0_reverse=torch.zeros(4 * H, D + 1)), r"'weight_ih_l0_reverse': found shape \(24, 4\)"
    yield with_(bias_ih_l0=torch.zeros(3)), r"key 'bias_ih_l0': found shape \(3,\), expected shape \(24\)"
    yield with_(bias_ih_l0=torch.full((4 * H,), float("inf"))), r"found inf at \[0\], expected finite"
    yield with_(bias_ih_l0=torch.zeros(4 * H, dtype=torch.int64)), "found torch.int64, expected float16"
    yield with_(bias_ih_l0=torch.zeros(4 * H).double()), "expected one precision"
    yield with_(bias_ih_l0=[0.0] * 4 * H), "found list, expected a tensor"
    yield with_(weight_hr_l0=torch.zeros(2, H)), "found a projection"


@pytest.mark.parametrize(("state", "message"), list(broken_states()))
def test_broken_state_dicts(state, message):
    with pytest.raises(CheckpointError, match=message):
        read_network(state)


def test_layers_of_ones_own():
    class Leak(RecurrentLayer):
        kind, layer, direction, hidden_size, state_size = "leak", 0, 0, D, D
        dtype, device = torch.float64, torch.device("cpu")

        def project(self, x):
            return x

        def step(self, p, state):
            return 0.9 * state + 0.1 * p

        def local(self, p, state, previous=None):
            raise NotImplementedError

        def jacobian(self, p, state):
            return torch.eye(D, dtype=torch.float64).mul(0.9).expand(len(p), D, D)

    second = from_step(lambda x, h: torch.tanh(h + x), D, dtype=torch.float64)
    x = random(B, T, D)
    network = read_network([Leak(), second])
    one, two = network.runs(x)
    assert torch.equal(two.inputs, one.layer.states(x)) and (two.layer.layer, len(network.units)) == (1, 2 * D)
    p, state = visited(read_network(Leak()).layers[0][0])
    assert torch.equal(Leak().jacobian(p, state)[0].diagonal(), torch.full((D,), 0.9, dtype=torch.float64))
    assert read_network(network) is network
    with pytest.raises(ParameterError, match="state_size=2 must be at least"):
        from_step(torch.add, 3, state_size=2)
    with pytest.raises(ParameterError, match="hidden_size=0"):
        from_step(torch.add, 0)
    with pytest.raises(ParameterError, match="function returned shape"):
        from_step(lambda x, h: h[:, :1], D).states(torch.zeros(B, T, D))
