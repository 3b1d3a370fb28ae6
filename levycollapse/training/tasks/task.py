"""What a task must offer to the training loop."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from torch import Tensor


@runtime_checkable
class Task(Protocol):
    """A source of batches with a loss.

    Those of this package are frozen dataclasses: their ``repr`` says what they are, and a training that is resumed
    compares it. Write your own in the same form.

    Attributes
    ----------
    input_size, output_size : int
        D and the width of the targets.
    best_loss : float
        Expectation of the loss of the best predictor there can be; nan if it is not known.
    """

    @property
    def input_size(self) -> int:
        """D.

        Returns
        -------
        int
            Width of the inputs.
        """

    @property
    def output_size(self) -> int:
        """Width of the targets.

        Returns
        -------
        int
            1 for a scalar.
        """

    @property
    def best_loss(self) -> float:
        """Loss of the best predictor.

        Returns
        -------
        float
            Its expectation; nan if it is not known.
        """

    def batch(self, n: int, length: int, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Independent sequences.

        Parameters
        ----------
        n : int
            How many, B.
        length : int
            Steps T of each.
        rng : numpy.random.Generator
            The only source of randomness.

        Returns
        -------
        x : Tensor
            Inputs (B, T, D), float32.
        y : Tensor
            Targets (B, T, output_size), float32.
        """

    def loss(self, prediction: Tensor, target: Tensor) -> Tensor:
        """What is minimised.

        Parameters
        ----------
        prediction : Tensor
            (B, T, output_size).
        target : Tensor
            The same shape.

        Returns
        -------
        Tensor
            A single number.
        """
