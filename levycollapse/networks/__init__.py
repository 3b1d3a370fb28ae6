"""Trained recurrent networks: cells, adapters and files (needs torch: ``pip install "levycollapse[networks]"``)."""

try:
    import torch as _torch  # noqa: F401
except ImportError as _error:
    raise ImportError('levycollapse.networks needs PyTorch: pip install "levycollapse[networks]"') from _error

from ..tails import UnitStatus
from ._cells import GRU, LSTM, ConstGate, DiagGate, SharedGate
from ._custom import from_step
from ._envelope import envelope
from ._layer import LayerRun, LocalTerms, Network, RecurrentLayer
from ._lyapunov import lyapunov_spectrum
from ._panel import zeta_panel
from ._read import RecurrentInfo, inspect, read_network
from ._recorder import ZetaRecorder
from ._timescales import timescales

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
    "UnitStatus",
    "ZetaRecorder",
    "envelope",
    "from_step",
    "inspect",
    "lyapunov_spectrum",
    "read_network",
    "timescales",
    "zeta_panel",
]
