"""The checksum: three forms that agree, and what it tells apart."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thatch.engine.container.checksums import CHUNK, STEP, checksum, compiled_sums, plain_sums


def mix(value: int) -> int:
    value = ((value ^ value >> 33) * 0xFF51AFD7ED558CCD) % 2**64
    value = ((value ^ value >> 33) * 0xC4CEB9FE1A85EC53) % 2**64
    return value ^ value >> 33


def fold(value: int) -> int:
    return (value % 2**32) * (value >> 32)


def reference(content: bytes) -> int:
    """The definition of the checksum in plain Python."""
    whole = len(content) // 8 * 8
    words = [int.from_bytes(content[i : i + 8], "little") for i in range(0, whole, 8)]
    value = mix((len(content) + STEP) % 2**64)
    for start in range(0, len(words), CHUNK):
        total = products = 0
        for i, word in enumerate(words[start : start + CHUNK], 1):
            seed = i * STEP % 2**64
            total += word
            products += fold(word ^ seed ^ fold(seed))
        value = mix(mix(value ^ total % 2**64) ^ products % 2**64)
    return mix(value ^ int.from_bytes(content[whole:], "little"))


def summed(content: bytes) -> int:
    return checksum(np.frombuffer(content, np.uint8))


@given(st.binary(max_size=200))
def test_both_forms_of_the_checksum_are_its_definition(content: bytes) -> None:
    bytes_ = np.frombuffer(content, np.uint8)
    assert checksum(bytes_) == checksum(bytes_, compiled=True) == reference(content)


@given(
    size=st.integers(0, 3) | st.integers(CHUNK - 3, CHUNK + 3) | st.integers(0, 3 * CHUNK),
    shift=st.integers(0, 9),
    seed=st.integers(0, 2**32),
)
def test_the_compiled_sums_are_those_of_numpy_at_every_length_and_alignment(
    size: int, shift: int, seed: int
) -> None:
    content = np.random.default_rng(seed).integers(0, 256, size * 8 + shift, np.uint8)
    words = content[shift:].view(np.uint64)
    assert (compiled_sums(words) == plain_sums(words)).all()
    assert checksum(content[shift:], compiled=True) == checksum(content[shift:])


def test_the_checksum_of_many_chunks_is_its_definition() -> None:
    content = np.random.default_rng(1).integers(0, 256, CHUNK * 8 + 1003, np.uint8)
    assert checksum(content) == reference(content.tobytes())


@given(st.binary(min_size=1, max_size=300), st.data())
def test_a_changed_swapped_moved_or_added_part_changes_the_checksum(
    content: bytes, data: st.DataObject
) -> None:
    before = summed(content)
    size = data.draw(st.sampled_from([1, 8, 16, 64]))
    blocks = [content[i : i + size] for i in range(0, len(content), size)]
    others = [
        b"".join(data.draw(st.permutations(blocks))),
        content + bytes(data.draw(st.integers(1, 300))),
        bytes(data.draw(st.integers(1, 300))) + content,
        content[data.draw(st.integers(1, len(content))) :],
        bytes(len(content)),
    ]
    assert all(other == content or summed(other) != before for other in others)


def test_no_pair_of_flipped_bits_goes_unseen() -> None:
    for fill in (b"\0", b"\xff", b"\x5a"):
        content = np.frombuffer(fill * 80, np.uint8).copy()
        seen = {checksum(content)}
        flips = [(byte, 1 << bit) for byte in range(0, 80, 3) for bit in (0, 3, 7)]
        pairs = [(one, other) for i, one in enumerate(flips) for other in flips[:i]]
        for pair in pairs:
            changed = content.copy()
            for byte, bit in pair:
                changed[byte] ^= bit
            seen.add(checksum(changed))
        assert len(seen) == len(pairs) + 1


def test_zeros_of_different_lengths_have_different_checksums() -> None:
    assert len({summed(bytes(n)) for n in range(2000)}) == 2000
