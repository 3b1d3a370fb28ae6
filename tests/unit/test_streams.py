import numpy as np
import pytest

from levycollapse import ParameterError
from levycollapse._kernels._jit import scalar
from levycollapse._kernels.streams import (
    padded,
    path_bits,
    prepare_paths,
    round_keys,
    stream_key,
    stream_pass,
)

#: Random123's published known answers for Philox4x32-10: counter, key, output.
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text):
    return [int(word, 16) for word in text.split()]


def block(counter, key):
    """Four words of output of a counter, through the pass over eleven paths of which the last is meant."""
    path, pair, word = (np.uint64(low | high << 32) for low, high in ((counter[0], counter[3]), counter[2:0:-1], key))
    even, odd, products, left = (np.zeros(padded(11), np.uint64) for _ in range(4))
    prepare_paths(np.append(np.arange(10, dtype=np.uint64), path), word, products, left)
    whole_pass(even, odd, products, left, pair, word, round_keys(word))
    assert (even[10:] == even[10]).all() and (odd[10:] == odd[10]).all()
    return [int(even[10]) >> 32, int(even[10]) & 0xFFFFFFFF, int(odd[10]) >> 32, int(odd[10]) & 0xFFFFFFFF]


@scalar
def whole_pass(even, odd, products, left, pair, word, keys):
    stream_pass(even, odd, products, left, pair, word, keys)


def rounds(counter, key):
    """A plain twin."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & 0xFFFFFFFF, (p >> 32) ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


@pytest.mark.parametrize(("counter", "key", "output"), KNOWN_ANSWERS)
def test_known_answers(counter, key, output):
    """Counter words 0 and 3 are the path, 2 and 1 the pair of steps; the four words of output serve two steps."""
    assert block(words(counter), words(key)) == words(output) == rounds(words(counter), words(key))


def test_python_agrees_on_the_rounds():
    """On counters and keys that the known answers do not have."""
    rng = np.random.default_rng(20)
    for _ in range(40):
        counter, key = ([int(w) for w in rng.integers(0, 2**32, n)] for n in (4, 2))
        assert block(counter, key) == rounds(counter, key)


def test_bits_of_a_step_are_half_a_block():
    even, odd = path_bits(7 | 5 << 32, [3], 12, 14)[0]
    a, b, c, d = rounds((3, 0, 6, 0), (7, 5))
    assert (int(even), int(odd)) == (a << 32 | b, c << 32 | d)


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
