"""The law of one time step: density, tail, quantiles and draws."""

from .law import IncrementLaw
from .table import QuantileTable

__all__ = ["IncrementLaw", "QuantileTable"]
