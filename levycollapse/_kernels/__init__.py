"""Numba kernels: no validation, no I/O, no Python objects. The layers above check their input."""
