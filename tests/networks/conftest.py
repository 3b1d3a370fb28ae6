from __future__ import annotations

import pytest

try:
    import torch
except ImportError:
    # The test files import it at their top.
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
