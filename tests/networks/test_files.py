from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")
from torch import nn  # noqa: E402

from levycollapse.errors import CheckpointError  # noqa: E402
from levycollapse.networks import LSTM, DiagGate, inspect, read_network  # noqa: E402

from .nets import D, H  # noqa: E402


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self):
        return os.mkdir, (str(self.proof),)


def save(state, path):
    """Save a state dict in the format of the suffix."""
    if path.suffix == ".safetensors":
        safetensors_torch.save_file({k: v.contiguous() for k, v in state.items()}, path)
    elif path.suffix == ".npz":
        np.savez(path, **{k: v.numpy() for k, v in state.items()})
    else:
        torch.save(state, path)
    return path


SUFFIXES = [".safetensors", ".pt", ".pth", ".npz"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_what_was_saved_is_read(tmp_path, suffix, dtype):
    if suffix == ".npz" and dtype == torch.bfloat16:
        pytest.skip("NumPy has no bfloat16")
    m = nn.LSTM(D, H, num_layers=2, bidirectional=True).to(dtype)
    state = {f"encoder.{k}": v for k, v in m.state_dict().items()} | {"steps": torch.tensor(7)}
    path = save(state, tmp_path / f"net{suffix}")
    (info,) = inspect(path)
    name = str(dtype).removeprefix("torch.")
    assert info == type(info)("encoder", "lstm", D, H, 2, 2, True, name)
    assert str(info) == f"encoder: lstm, 2 layer(s), bidirectional, {D} inputs, {H} units, {name}"
    here, there = read_network(m), read_network(path)
    x = torch.zeros(2, 4, D)
    for a, b in zip(here.runs(x.transpose(0, 1)), there.runs(x), strict=True):
        assert torch.equal(a.layer.states(a.inputs), b.layer.states(b.inputs)) and b.layer.dtype == dtype


def test_nested_checkpoints_of_a_training_run(tmp_path):
    m = DiagGate(D, H)
    # What an optimizer's state looks like, without the import of one, which takes ten seconds.
    optimizer = {"state": {0: {"step": torch.tensor(3.0), "exp_avg": torch.zeros(H, D)}}, "param_groups": [{"lr": 0.1}]}
    path = tmp_path / "final.pt"
    torch.save({"epoch": 3, "model_state_dict": m.state_dict(), "optimizer_state_dict": optimizer}, path)
    (info,) = inspect(str(path))
    assert (info.name, info.kind, info.hidden_size) == ("model_state_dict", "diag", H)
    torch.save(LSTM(D, H).state_dict(), path)
    assert str(inspect(path)[0]).startswith("(no prefix): lstm, 1 layer(s), 3 inputs")
    torch.save(nn.GRU(D, H, bias=False).state_dict(), path)
    assert str(inspect(path)[0]).endswith("float32, no biases")


def test_several_networks_in_one_file(tmp_path):
    state = {f"a.{k}": v for k, v in nn.GRU(D, H).state_dict().items()}
    state |= {f"b.{k}": v for k, v in nn.RNNCell(D, 2 * H).state_dict().items()}
    path = save(state, tmp_path / "two.safetensors")
    assert [(info.name, info.kind, info.hidden_size) for info in inspect(path)] == [
        ("a", "gru", H),
        ("b", "rnn", 2 * H),
    ]
    assert read_network(path, submodule="b").layers[0][0].hidden_size == 2 * H


def test_names_of_g2p(tmp_path):
    m = nn.GRU(D, H)
    arrays = {
        f"{side}_{short}_{way}": getattr(m, f"{long}_{way}_l0").detach().numpy()
        for side in ("enc", "dec")
        for short, long in (("w", "weight"), ("b", "bias"))
        for way in ("ih", "hh")
    }
    path = tmp_path / "checkpoint.npz"
    np.savez(path, enc_emb=np.zeros((29, D), dtype=np.float32), **arrays)
    assert [info.name for info in inspect(path)] == ["enc", "dec"]
    keys = {
        f"{long}_{way}_l0": f"enc_{short}_{way}"
        for short, long in (("w", "weight"), ("b", "bias"))
        for way in ("ih", "hh")
    }
    one, two = read_network(path, submodule="enc").layers[0][0], read_network(path, keys=keys).layers[0][0]
    assert one.kind == two.kind == "gru"
    assert torch.equal(one.weight_hh, two.weight_hh) and torch.equal(one.weight_hh, m.weight_hh_l0)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_truncated_files(tmp_path, suffix):
    path = save(nn.GRU(D, H).state_dict(), tmp_path / f"net{suffix}")
    whole = path.read_bytes()
    for size in (0, 1, 7, 30, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match=f"net{suffix}: expected"):
            inspect(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_flipped_bytes_are_an_error_or_other_numbers(tmp_path, suffix):
    path = save(nn.GRU(D, H).state_dict(), tmp_path / f"net{suffix}")
    whole = path.read_bytes()
    for at in range(0, min(len(whole), 600), 23):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        try:
            inspect(path)
        except CheckpointError as error:
            assert path.name in str(error)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pickles_with_code_are_refused_and_not_run(tmp_path, suffix):
    path, proof = tmp_path / f"net{suffix}", tmp_path / "proof"
    contents = [pickle.dumps({"weight_hh_l0": Bomb(proof)}), pickle.dumps(Bomb(proof), protocol=0)]
    buffer = io.BytesIO()
    torch.save({"weight_hh_l0": torch.zeros(2), "more": Bomb(proof)}, buffer)
    contents.append(buffer.getvalue())
    buffer = io.BytesIO()
    torch.save(Bomb(proof), buffer, _use_new_zipfile_serialization=False)
    contents.append(buffer.getvalue())
    buffer = io.BytesIO()
    np.savez(buffer, weight_hh_l0=np.array([Bomb(proof)], dtype=object))
    contents.append(buffer.getvalue())
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb(proof)], dtype=object), allow_pickle=True)
    contents.append(buffer.getvalue())
    for content in contents:
        path.write_bytes(content)
        for read in (inspect, read_network):
            with pytest.raises(CheckpointError, match="expected"):
                read(path)
        assert not proof.exists()
    # The proof would be there if anything had been run.
    pickle.loads(contents[0])
    assert proof.exists()


def test_environment_cannot_allow_code(tmp_path, monkeypatch):
    proof = tmp_path / "proof"
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    torch.save({"weight_hh_l0": Bomb(proof)}, tmp_path / "net.pt")
    with pytest.raises(CheckpointError, match="without running code"):
        inspect(tmp_path / "net.pt")
    assert not proof.exists()


def test_whole_modules_and_scripts_are_refused(tmp_path):
    path = tmp_path / "net.pt"
    torch.save(nn.GRU(D, H), path)
    with pytest.raises(CheckpointError, match=r"torch\.save of module\.state_dict\(\), not of the module"):
        inspect(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/constants.pkl", b"")
        archive.writestr("net/data.pkl", b"")
        archive.writestr("net/code/__torch__.py", "raise SystemExit")
    with pytest.raises(CheckpointError, match="expected a state dict"):
        inspect(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_broken_tensors_are_named(tmp_path, suffix):
    path = tmp_path / f"net{suffix}"
    good = nn.GRU(D, H).state_dict()
    for change, message in (
        ({"weight_hh_l0": torch.zeros(3 * H, H + 1)}, r"key 'weight_hh_l0': found shape \(18, 7\), expected"),
        ({"bias_hh_l0": torch.full((3 * H,), float("nan"))}, r"key 'bias_hh_l0': found nan at \[0\], expected finite"),
        ({"weight_ih_l0": torch.zeros(3 * H)}, r"key 'weight_ih_l0': found shape \(18,\), expected shape \(18, any\)"),
    ):
        save({**good, **change}, path)
        with pytest.raises(CheckpointError, match=message) as caught:
            inspect(path)
        assert str(path) in str(caught.value)
    save({k: v for k, v in good.items() if k != "bias_ih_l0"}, path)
    with pytest.raises(
        CheckpointError, match="key 'bias_ih_l0': found nothing, expected a tensor; there are 'bias_hh_l0'"
    ):
        inspect(path)
    save({"fc.weight": torch.zeros(2, 2)}, path)
    with pytest.raises(CheckpointError, match=r"found 'fc\.weight', expected the tensors of a recurrent network"):
        inspect(path)


def test_other_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        inspect(tmp_path / "nothing.pt")
    (tmp_path / "net.h5").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"ends in '\.h5', expected \.safetensors"):
        inspect(tmp_path / "net.h5")
    (tmp_path / "folder.pt").mkdir()
    with pytest.raises(FileNotFoundError):
        inspect(tmp_path / "folder.pt")
    np.save(tmp_path / "one.npy", np.zeros(3))
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(CheckpointError, match="whole npz file"):
        inspect(tmp_path / "one.npz")


def test_npz_of_foreign_byte_order(tmp_path):
    m = nn.GRU(D, H)
    np.savez(
        tmp_path / "big.npz", note=np.array("text"), **{k: v.numpy().astype(">f4") for k, v in m.state_dict().items()}
    )
    assert torch.equal(read_network(tmp_path / "big.npz").layers[0][0].weight_hh, m.weight_hh_l0)


def test_errors_about_pickles_are_one_sentence(tmp_path):
    path = tmp_path / "net.pt"
    torch.save(nn.GRU(D, H), path)
    with pytest.raises(CheckpointError, match=r"asks for torch\.nn\.modules\.rnn\.GRU") as caught:
        inspect(path)
    assert "\x1b" not in str(caught.value) and "weights_only" not in str(caught.value)
    path.write_bytes(pickle.dumps({"weight_hh_l0": [1.0]}, protocol=4))
    with pytest.raises(CheckpointError, match="a pickle that is no plain dictionary of tensors"):
        inspect(path)


def test_tensors_without_values_and_dictionaries_without_end(tmp_path):
    path, good = tmp_path / "net.pt", dict(nn.GRU(D, H).state_dict())
    torch.save({**good, "weight_hh_l0": good["weight_hh_l0"].to("meta")}, path)
    with pytest.raises(CheckpointError, match="'weight_hh_l0': found no values"):
        inspect(path)
    torch.save({**good, "weight_hh_l0": good["weight_hh_l0"].to_sparse()}, path)
    with pytest.raises(CheckpointError, match=r"layout torch\.sparse_coo, expected a dense tensor"):
        inspect(path)
    endless: dict = {}
    endless["net"] = endless
    torch.save(endless, path)
    with pytest.raises(CheckpointError, match="holds itself"):
        inspect(path)
