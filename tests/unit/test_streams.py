import numpy as np
import pytest

from levycollapse import ParameterError
from levycollapse._kernels._jit import scalar
from levycollapse._kernels.streams import path_bits, philox, stream_key, stream_pass

#: Random123's published known answers for Philox4x32-10: counter, key, output.
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@scalar
def philox_of(counter, key):
    return philox(counter[0], counter[1], counter[2], counter[3], key[0], key[1])


def words(text):
    return np.array([int(word, 16) for word in text.split()], np.uint64)


@pytest.mark.parametrize(("counter", "key", "output"), KNOWN_ANSWERS)
def test_known_answers(counter, key, output):
    assert np.array_equal(np.array(philox_of(words(counter), words(key)), np.uint64), words(output))


@pytest.mark.parametrize(("counter", "key", "output"), KNOWN_ANSWERS)
def test_known_answers_through_path_and_step(counter, key, output):
    """Counter words 0, 1 are the pair of steps, 2, 3 the path; the four words of output serve two steps."""
    c, k, o = (words(text) for text in (counter, key, output))
    pair, path, word = (np.uint64(int(low) | int(high) << 32) for low, high in (c[:2], c[2:], k))
    even, odd = np.empty(3, np.uint64), np.empty(3, np.uint64)
    stream_pass(even, odd, np.full(3, path), pair, word)
    assert even.tolist() == [int(o[0]) | int(o[1]) << 32] * 3
    assert odd.tolist() == [int(o[2]) | int(o[3]) << 32] * 3


def test_numpy_agrees_on_the_rounds():
    """A plain twin, on counters and keys that the known answers do not have."""
    rng = np.random.default_rng(20)
    for _ in range(20):
        counter, key = (rng.integers(0, 2**32, n, dtype=np.uint64) for n in (4, 2))
        c, k = [int(v) for v in counter], [int(v) for v in key]
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(q >> 32) ^ c[1] ^ k[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k[1], p & 0xFFFFFFFF]
            k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
        assert list(philox_of(counter, key)) == c


@pytest.mark.parametrize("size", [1, 2, 3, 17, 256, 257])
def test_bits_depend_on_path_and_step_alone(size):
    paths = np.arange(size) * 7 + 3
    bits = path_bits(99, paths, 0, 9)
    for i in (0, size // 2, size - 1):
        assert np.array_equal(path_bits(99, [paths[i]], 0, 9)[0], bits[i])
    assert np.array_equal(path_bits(99, paths, 3, 8), bits[:, 3:8])


def test_no_duplicates_among_1e7_draws_across_paths():
    """Anchors H9: shared generators in threads repeated 15-46 % of the draws."""
    bits = path_bits(2024, np.arange(10_000), 0, 1_000).ravel()
    bits.sort()
    # 1e7 draws of 64 bits collide with probability 3e-6.
    assert not (bits[1:] == bits[:-1]).any()


def test_bits_are_balanced():
    bits = path_bits(7, np.arange(1000), 0, 1000).ravel()
    for position in range(64):
        ones = int(((bits >> np.uint64(position)) & np.uint64(1)).sum())
        assert abs(ones - bits.size / 2) < 4.5 * np.sqrt(bits.size / 4)


def test_key_forms():
    assert stream_key(5) == stream_key(5) != stream_key(6)
    assert stream_key(5) == stream_key(np.random.SeedSequence(5)) == stream_key(np.int64(5)) == stream_key([5])
    assert stream_key(None) != stream_key(None)
    assert 0 <= stream_key(None) < 2**64
    a, b = np.random.default_rng(1), np.random.default_rng(1)
    first, second = stream_key(a), stream_key(a)
    assert first != second
    assert (stream_key(b), stream_key(b)) == (first, second)
    assert stream_key(np.random.PCG64(1)) == first


@pytest.mark.parametrize("bad", [True, 1.5, "1", -1, np.random.RandomState(1), object()])
def test_bad_rng(bad):
    with pytest.raises(ParameterError, match="rng="):
        stream_key(bad)
