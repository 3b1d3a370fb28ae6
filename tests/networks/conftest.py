from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def seeded():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
