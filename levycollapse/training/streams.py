"""Random streams of a training, none of which another can disturb."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from .._kernels.streams import stream_key


class Stream(IntEnum):
    """What the random numbers of a training are for."""

    DATA = 0
    INITIALISATION = 1
    BATCHES = 2
    INJECTION = 3
    DIAGNOSTICS = 4
    MODULE = 5


class Streams:
    """Generators of a training, one for every purpose and index.

    A generator depends on the seed, the purpose and the index alone, so that there is no state to save, and nothing
    that is drawn for one purpose moves another.

    Parameters
    ----------
    seed : None, int, SeedSequence, BitGenerator or Generator
        In any conventional form (SPEC 7). None takes a fresh key from the operating system.

    Attributes
    ----------
    key : int
        64 bits that stand for the seed.

    Raises
    ------
    ParameterError
        If `seed` is none of these.

    Examples
    --------
    >>> from levycollapse.training import Stream, Streams
    >>> streams = Streams(7)
    >>> streams.generator(Stream.DATA, 3).random() == Streams(7).generator(Stream.DATA, 3).random()
    True
    """

    def __init__(self, seed: Any = None) -> None:
        self.key = stream_key(seed)

    @classmethod
    def from_key(cls, key: int) -> Streams:
        """The same streams from their key.

        Parameters
        ----------
        key : int
            Of other streams.

        Returns
        -------
        Streams
            Equal to those.
        """
        streams = cls(0)
        streams.key = key
        return streams

    def generator(self, stream: Stream, *index: int) -> np.random.Generator:
        """Generator of one purpose.

        Parameters
        ----------
        stream : Stream
            The purpose.
        *index : int
            Which one, such as the step.

        Returns
        -------
        numpy.random.Generator
            A fresh one, at its beginning.
        """
        return np.random.default_rng(self._seeds(stream, *index))

    def torch_seed(self, stream: Stream, *index: int) -> int:
        """Seed for torch's own generators.

        Parameters
        ----------
        stream : Stream
            The purpose.
        *index : int
            Which one, such as the step.

        Returns
        -------
        int
            63 bits.
        """
        return int(self._seeds(stream, *index).generate_state(1, np.uint64)[0] >> np.uint64(1))

    def _seeds(self, stream: Stream, *index: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.key, spawn_key=(int(stream), *index))
