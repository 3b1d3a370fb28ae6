"""Two trained networks from published packages; skipped with a message where they cannot be fetched."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from levycollapse.networks import _examples as examples  # noqa: E402
from levycollapse.networks import inspect, read_network  # noqa: E402
from levycollapse.networks._files import read_tensors  # noqa: E402
from levycollapse.networks._speech import speech_like  # noqa: E402


def path_of(checkpoint):
    try:
        return examples.fetch(checkpoint)
    except examples.Unavailable as error:
        pytest.skip(str(error))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_spelling_gru_is_the_recurrence_of_its_authors():
    # Written out in NumPy: blocks r, z, n, and z multiplies the old state.
    path = path_of(examples.G2P)
    assert [str(info) for info in inspect(path)] == [
        f"{name}: gru, 1 layer(s), 256 inputs, 256 units, float32" for name in ("enc", "dec")
    ]
    network, inputs = examples.spelling_gru(sequences=2, steps=512)
    assert inputs.shape == (2, 512, 256) and inputs.dtype == torch.float32
    (run,) = network.runs(inputs)
    ours = run.layer.states(run.inputs).double().numpy()
    with np.load(path, allow_pickle=False) as arrays:
        w = {key: arrays[key].astype(float) for key in arrays.files}
    x, h = inputs.double().numpy(), np.zeros((2, 256))
    for t in range(512):
        a, b = x[:, t] @ w["enc_w_ih"].T + w["enc_b_ih"], h @ w["enc_w_hh"].T + w["enc_b_hh"]
        r, z = np.split(sigmoid(a[:, :512] + b[:, :512]), 2, 1)
        n = np.tanh(a[:, 512:] + r * b[:, 512:])
        h = (1 - z) * n + z * h
        assert np.abs(ours[:, t] - h).max() < 2e-5, t
        if t == 100:
            terms = run.layer.local(run.layer.project(inputs)[:, t + 1], run.layer.states(run.inputs)[:, t])
    a, b = x[:, 101] @ w["enc_w_ih"].T + w["enc_b_ih"], ours[:, 100] @ w["enc_w_hh"].T + w["enc_b_hh"]
    assert np.abs(terms.carry.numpy() - sigmoid(a[:, 256:512] + b[:, 256:512])).max() < 1e-5
    # Trained, and not at rest: units differ in how much they carry over.
    assert np.ptp(terms.carry.numpy().mean(0)) > 0.5


def test_voice_detector_takes_our_speech_for_a_voice():
    path = path_of(examples.SILERO)
    (info,) = inspect(path)
    assert str(info) == "lstm_cell: lstm, 1 layer(s), 128 inputs, 128 units, float32"
    detector, network = examples.VoiceDetector(read_tensors(path)), read_network(path)

    def probability(audio):
        features = detector.features(torch.from_numpy(audio.astype(np.float32))[None])
        (run,) = network.runs(features)
        return detector.probability(run.layer.hidden(run.layer.states(run.inputs)))[0].numpy()

    audio, speaking = speech_like(16.0, np.random.default_rng(1))
    assert audio.shape == speaking.shape == (256_000,) and np.abs(audio).max() == 0.5
    p = probability(audio)
    share = speaking[: len(p) * 512].reshape(-1, 512).mean(1)
    assert (p[share == 1] > 0.5).mean() > 0.9
    assert np.median(p[share == 0]) < 0.1
    # Silence, a tone and noise are no speech.
    t = np.arange(len(audio)) / 16_000
    for other in (
        np.zeros(len(audio)),
        np.sin(2 * np.pi * 440 * t) / 4,
        np.random.default_rng(0).normal(size=len(t)) / 9,
    ):
        assert np.median(probability(other)) < 0.2


def test_voice_lstm_has_thirty_seconds():
    path_of(examples.SILERO)
    network, inputs = examples.voice_lstm(sequences=1)
    assert inputs.shape == (1, 1000, 128) and torch.isfinite(inputs).all()
    (run,) = network.runs(inputs)
    assert run.layer.states(run.inputs).shape == (1, 1000, 256)


def test_offline_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("LEVYCOLLAPSE_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(examples.Unavailable, match=r"cannot fetch g2p-en==2\.1\.0 \(offline\?\)"):
        examples.fetch(examples.G2P)
    (tmp_path / "checkpoint20.npz").write_bytes(b"something else")
    with pytest.raises(examples.Unavailable, match="is not the checkpoint of"):
        examples.fetch(examples.G2P)
