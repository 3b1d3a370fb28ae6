"""Trained recurrent networks: cells, adapters and files (needs torch: ``pip install "levycollapse[networks]"``)."""

try:
    import torch as _torch  # noqa: F401
except ImportError as _error:
    raise ImportError('levycollapse.networks needs PyTorch: pip install "levycollapse[networks]"') from _error
