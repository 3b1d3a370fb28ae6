"""Which recurrent networks a set of named tensors holds, and the layers that they make.

Names are torch's (``weight_ih_l0``, ``weight_hh_l0_reverse``, ``weight_ih`` of a cell; ``w_ih``, ``b_ih`` too) or those
of the cells of this package, under any prefix. Kinds of torch's networks are told by shapes: weight_hh has G H rows,
with G = 1 for an RNN, 3 for a GRU and 4 for an LSTM.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..errors import CheckpointError
from ._dense import DenseLayer, LSTMLayer, TorchGRULayer, VanillaLayer
from ._gated import LeakyLayer, ResetBeforeGRULayer
from ._norm import Norm

_TORCH = re.compile(
    r"^(?P<prefix>(?:.*[._/])?)(?P<what>weight|w|bias|b)_(?P<side>ih|hh|hr)(?:_l(?P<layer>\d+)(?P<back>_reverse)?)?$"
)
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_KINDS = {1: "rnn", 3: "gru", 4: "lstm"}

#: Input and recurrent matrices of this package's cells in the order of their layers' rows, and the norm's name.
_CELLS: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "lstm": (("Wi", "Wf", "Wg", "Wo"), ("Ui", "Uf", "Ug", "Uo"), "ln_g"),
    "gru-reset-before": (("Wz", "Wr", "Wh"), ("Uz", "Ur", "Uh"), "ln_h"),
    "gated": (("Wx", "Ws"), ("Wh", "Us"), "ln_h"),
    "const": (("Wx",), ("Wh",), "ln"),
}


@dataclass
class Found:
    """A recurrent network among named tensors: `keys` maps the canonical name of a tensor to the name it has."""

    name: str
    family: str
    keys: dict[str, str] = field(default_factory=dict)


def recognise(names: Mapping[str, object]) -> dict[str, Found]:
    """Recurrent networks by their prefix, without its last dot; '' for one without a prefix."""
    found: dict[str, Found] = {}
    for name in names:
        match = _TORCH.match(name)
        if match is None:
            continue
        what = {"w": "weight", "b": "bias"}.get(match["what"], match["what"])
        canonical = f"{what}_{match['side']}_l{match['layer'] or 0}{match['back'] or ''}"
        label = match["prefix"].rstrip("._/")
        found.setdefault(label, Found(label, "torch")).keys[canonical] = name
    for family, (inputs, recurrent, _) in _CELLS.items():
        first = f"{recurrent[-1]}.weight"
        for name in names:
            prefix = name.removesuffix(first)
            if prefix == name or (prefix and not prefix.endswith(".")) or prefix.rstrip(".") in found:
                continue
            needed = [f"{part}.weight" for part in (*inputs, *recurrent)]
            if all(prefix + tail in names for tail in needed):
                found[prefix.rstrip(".")] = Found(
                    prefix.rstrip("."), family, {n[len(prefix) :]: n for n in names if n.startswith(prefix)}
                )
    return found


class Source:
    """Named tensors with the means to say what is wrong with them."""

    def __init__(self, tensors: Mapping[str, object], where: str) -> None:
        self.tensors, self.where = tensors, where

    def error(self, key: str, found: str, expected: str) -> CheckpointError:
        """The one form of complaint."""
        return CheckpointError(f"{self.where}: key {key!r}: found {found}, expected {expected}")

    def get(self, found: Found, canonical: str, shape: tuple[int | None, ...]) -> Tensor:
        """A tensor of that shape (None: any size) with finite entries, apart from any graph."""
        key = found.keys.get(canonical)
        if key is None:
            missing = f"{found.name}.{canonical}" if found.name else canonical
            raise self.error(missing, "nothing", f"a tensor; there are {listing(found.keys.values())}")
        value = self.tensors[key]
        if not isinstance(value, Tensor):
            raise self.error(key, type(value).__name__, "a tensor")
        if value.dtype not in _DTYPES:
            raise self.error(key, str(value.dtype), "float16, bfloat16, float32 or float64")
        fits = value.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, value.shape, strict=True))
        if not fits or 0 in value.shape:
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise self.error(key, f"shape {tuple(value.shape)}", f"shape ({wanted})")
        if value.layout != torch.strided or value.is_meta or value.is_quantized:
            what = "no values (device meta)" if value.is_meta else f"a tensor of layout {value.layout}"
            raise self.error(key, what, "a dense tensor")
        bad = ~torch.isfinite(value)
        if bad.any():
            index = tuple(int(i) for i in bad.nonzero()[0])
            raise self.error(key, f"{value[index].item()} at {list(index)}", "finite numbers")
        # A copy: the layer stays what it was when the owner goes on training.
        return value.detach().clone()


def listing(names: object) -> str:
    """Names for a message, not more than fit into it."""
    every = sorted(str(name) for name in names)  # type: ignore[attr-defined]
    shown = ", ".join(map(repr, every[:12]))
    return (shown or "none") + (f" and {len(every) - 12} more" if len(every) > 12 else "")


def build(source: Source, found: Found, nonlinearity: str = "tanh") -> list[list[DenseLayer]]:
    """The layers of a recognised network, over layers and directions."""
    levels = _build_torch(source, found, nonlinearity) if found.family == "torch" else [[_build_cell(source, found)]]
    kinds = {layer.dtype for level in levels for layer in level}
    for key in found.keys.values():
        value = source.tensors[key]
        if isinstance(value, Tensor) and value.is_floating_point():
            kinds.add(value.dtype)
    if len(kinds) > 1:
        raise CheckpointError(
            f"{source.where}: network {found.name!r}: found tensors of {listing(kinds)}, expected one precision"
        )
    return levels


def _build_torch(source: Source, found: Found, nonlinearity: str) -> list[list[DenseLayer]]:
    projected = [key for canonical, key in found.keys.items() if "_hr_" in canonical]
    if projected:
        raise source.error(
            projected[0], "a projection (proj_size > 0)", "an LSTM without one, since its hidden units are not its own"
        )
    numbers = {int(re.findall(r"_l(\d+)", canonical)[0]) for canonical in found.keys}
    count = max(numbers) + 1
    directions = 2 if any(canonical.endswith("_reverse") for canonical in found.keys) else 1
    biased = any(canonical.startswith("bias") for canonical in found.keys)
    levels: list[list[DenseLayer]] = []
    gates: int | None = None
    width: int | None = None
    for number in range(count):
        level: list[DenseLayer] = []
        for direction in range(directions):
            tail = f"l{number}" + "_reverse" * direction
            recurrent = source.get(found, f"weight_hh_{tail}", (None, None))
            total, hidden = recurrent.shape
            ratio = total // hidden if total % hidden == 0 else 0
            if ratio not in _KINDS or (gates is not None and (ratio, hidden) != (gates, levels_size(levels, level))):
                wanted = "(H, H) of an RNN, (3H, H) of a GRU or (4H, H) of an LSTM"
                if gates is not None:
                    size = levels_size(levels, level)
                    wanted = f"shape {(gates * size, size)} as in the first layer"
                raise source.error(found.keys[f"weight_hh_{tail}"], f"shape {tuple(recurrent.shape)}", wanted)
            gates = ratio
            given = source.get(found, f"weight_ih_{tail}", (total, width))
            biases = None
            if biased:
                biases = (
                    source.get(found, f"bias_ih_{tail}", (total,)),
                    source.get(found, f"bias_hh_{tail}", (total,)),
                )
            level.append(_torch_layer(_KINDS[ratio], given, recurrent, biases, number, direction, nonlinearity))
            if direction == 0 and number == 0:
                width = given.shape[1]
        levels.append(level)
        width = directions * level[0].hidden_size
    return levels


def levels_size(levels: list[list[DenseLayer]], level: list[DenseLayer]) -> int:
    """Hidden size of the first layer built."""
    return (levels[0] if levels else level)[0].hidden_size


def _torch_layer(
    kind: str,
    weight_ih: Tensor,
    weight_hh: Tensor,
    biases: tuple[Tensor, Tensor] | None,
    layer: int,
    direction: int,
    nonlinearity: str,
) -> DenseLayer:
    if kind == "gru":
        bias = inner = None
        if biases is not None:
            # The reset gate multiplies the last third of the recurrent bias.
            two = 2 * weight_hh.shape[1]
            bias = biases[0].clone()
            bias[:two] += biases[1][:two]
            inner = biases[1][two:]
        return TorchGRULayer(weight_ih, weight_hh, bias, inner, layer, direction)
    bias = None if biases is None else biases[0] + biases[1]
    if kind == "lstm":
        return LSTMLayer(weight_ih, weight_hh, bias, layer, direction)
    return VanillaLayer(weight_ih, weight_hh, bias, layer, direction, nonlinearity)


def _build_cell(source: Source, found: Found) -> DenseLayer:
    inputs, recurrent, norm_name = _CELLS[found.family]
    square = source.get(found, f"{recurrent[0]}.weight", (None, None))
    size = square.shape[1]
    width = source.get(found, f"{inputs[0]}.weight", (size, None)).shape[1]
    # A shared gate has one row, and a gate per unit has H.
    rows = [size] * len(inputs)
    if found.family == "gated":
        gate = source.tensors[found.keys["Us.weight"]]
        if isinstance(gate, Tensor) and gate.ndim == 2 and gate.shape[0] == 1:
            rows[1] = 1
    weight_ih = torch.cat([source.get(found, f"{n}.weight", (r, width)) for n, r in zip(inputs, rows, strict=True)])
    weight_hh = torch.cat([source.get(found, f"{n}.weight", (r, size)) for n, r in zip(recurrent, rows, strict=True)])
    bias = torch.cat([source.get(found, f"{n}.bias", (r,)) for n, r in zip(inputs, rows, strict=True)])
    norm = None
    if any(canonical.startswith(f"{norm_name}.") for canonical in found.keys):
        norm = Norm(
            source.get(found, f"{norm_name}.weight", (size,)), source.get(found, f"{norm_name}.bias", (size,)), 1e-5
        )
    if found.family == "lstm":
        return LSTMLayer(weight_ih, weight_hh, bias, norm=norm)
    if found.family == "gru-reset-before":
        return ResetBeforeGRULayer(weight_ih, weight_hh, bias, norm=norm)
    if found.family == "const":
        return LeakyLayer("const", weight_ih, weight_hh, bias, norm=norm, s=source.get(found, "s", ()))
    return LeakyLayer("diag" if rows[1] == size else "shared", weight_ih, weight_hh, bias, norm=norm)
