"""Which sequences a measurement has seen, so that two measurements can be told to be independent."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import torch

from ._layer import LayerRun

#: Bytes of a digest: two of 10,000 sequences have the same one with probability 3e-12.
SIZE = 8


class Seen:
    """Runs that pass through, and what the first layer is fed in them.

    Attributes
    ----------
    digests : list of str
        One of each sequence's valid steps, in the precision of the network.
    """

    def __init__(self) -> None:
        self.digests: list[str] = []

    def __call__(self, runs: Iterator[LayerRun]) -> Iterator[LayerRun]:
        """The runs, unchanged."""
        for run in runs:
            if not self.digests:
                rows = run.inputs.detach().cpu().contiguous()
                self.digests = [
                    blake2b(x[: int(n)].view(torch.uint8).numpy().tobytes(), digest_size=SIZE).hexdigest()
                    for x, n in zip(rows, run.lengths, strict=True)
                ]
            yield run

    @property
    def attributes(self) -> dict[str, str]:
        """For a dataset: the digests, separated by spaces."""
        return {"inputs": " ".join(self.digests)}
