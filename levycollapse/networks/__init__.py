"""Trained recurrent networks: cells, adapters and files (needs torch: ``pip install "levycollapse[networks]"``)."""

try:
    import torch as _torch  # noqa: F401
except ImportError as _error:
    raise ImportError('levycollapse.networks needs PyTorch: pip install "levycollapse[networks]"') from _error

from ._cells import GRU, LSTM, ConstGate, DiagGate, SharedGate
from ._custom import from_step
from ._layer import LayerRun, LocalTerms, Network, RecurrentLayer
from ._read import RecurrentInfo, inspect, read_network

__all__ = [
    "GRU",
    "LSTM",
    "ConstGate",
    "DiagGate",
    "LayerRun",
    "LocalTerms",
    "Network",
    "RecurrentInfo",
    "RecurrentLayer",
    "SharedGate",
    "from_step",
    "inspect",
    "read_network",
]
