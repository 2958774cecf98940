"""Writes a GGUF file of exactly the shape of Qwen2.5-7B-Instruct Q4_K_M (4.7 GB) with random weights, to measure with.

    python3 benches/qwen7b_shape.py SMALL.gguf OUT.gguf

SMALL.gguf is any Qwen2 model, such as Qwen2.5-Coder-1.5B: tokenizer and settings are taken from it. The types of the tensors are
those that llama.cpp's `Q4_K_M` gives: Q6_K for the output, and for `attn_v` and `ffn_down` in the first and last eighth of the
layers and every third between; Q4_K for the rest. What such a model writes is noise; how long it takes is not. Needs only Python.
"""

import os
import struct
import sys

LAYERS, HIDDEN, INNER, HEADS, KV_HEADS, DIMENSION, VOCABULARY = 28, 3584, 18944, 28, 4, 128, 152064
NUMBERS = {
    "block_count": LAYERS,
    "embedding_length": HIDDEN,
    "feed_forward_length": INNER,
    "attention.head_count": HEADS,
    "attention.head_count_kv": KV_HEADS,
    "context_length": 32768,
}
F32, Q4_K, Q6_K = 0, 12, 14
ALIGN = 32
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
SCALE = struct.pack("<e", 0.0008)


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def text(self):
        length = self.number("Q")
        self.at += length
        return self.data[self.at - length : self.at].decode("utf-8", "replace")

    def skip(self, kind):
        if kind == 8:
            self.text()
        elif kind == 9:
            of, count = self.number("I"), self.number("Q")
            for _ in range(count):
                self.skip(of)
        else:
            self.at += SIZES[kind]


def metadata(small):
    """Key-value pairs of the small model as bytes, with the sizes of the large one."""
    with open(small, "rb") as file:
        reader = Reader(file.read(64 << 20))
    if reader.number("I") != 0x46554747:
        sys.exit(f"{small}: not a GGUF file")
    reader.number("I")
    reader.number("Q")
    pairs = []
    for _ in range(reader.number("Q")):
        key, kind, start = reader.text(), reader.number("I"), reader.at
        reader.skip(kind)
        value = reader.data[start : reader.at]
        name = key.split(".", 1)[-1]
        if key.startswith("qwen2.") and name in NUMBERS:
            kind, value = 4, struct.pack("<I", NUMBERS[name])
        elif key in ("tokenizer.ggml.tokens", "tokenizer.ggml.token_type"):
            of, count = struct.unpack_from("<IQ", value)
            more = VOCABULARY - count
            pads = [text(f"[PAD{count + i}]") if of == 8 else struct.pack("<i", 5) for i in range(more)]
            value = struct.pack("<IQ", of, VOCABULARY) + value[12:] + b"".join(pads)
        pairs.append(text(key) + struct.pack("<I", kind) + value)
    return pairs


def more_bits(layer):
    return layer < LAYERS // 8 or layer >= 7 * LAYERS // 8 or (layer - LAYERS // 8) % 3 == 2


def tensors():
    """Name, shape as GGUF counts it (columns first) and type."""
    yield "token_embd.weight", (HIDDEN, VOCABULARY), Q4_K
    for i in range(LAYERS):
        fine = Q6_K if more_bits(i) else Q4_K
        q, kv = HEADS * DIMENSION, KV_HEADS * DIMENSION
        for name, shape, kind in [
            ("attn_norm.weight", (HIDDEN,), F32),
            ("attn_q.weight", (HIDDEN, q), Q4_K),
            ("attn_q.bias", (q,), F32),
            ("attn_k.weight", (HIDDEN, kv), Q4_K),
            ("attn_k.bias", (kv,), F32),
            ("attn_v.weight", (HIDDEN, kv), fine),
            ("attn_v.bias", (kv,), F32),
            ("attn_output.weight", (q, HIDDEN), Q4_K),
            ("ffn_norm.weight", (HIDDEN,), F32),
            ("ffn_gate.weight", (HIDDEN, INNER), Q4_K),
            ("ffn_up.weight", (HIDDEN, INNER), Q4_K),
            ("ffn_down.weight", (INNER, HIDDEN), fine),
        ]:
            yield f"blk.{i}.{name}", shape, kind
    yield "output_norm.weight", (HIDDEN,), F32
    yield "output.weight", (HIDDEN, VOCABULARY), Q6_K


def blocks(kind, count):
    """`count` weights."""
    if kind == F32:
        return struct.pack("<f", 1.0) * count
    number = count // 256
    sample = bytearray()
    for _ in range(min(number, 4096)):
        if kind == Q4_K:
            sample += SCALE + SCALE + os.urandom(140)
        else:
            sample += os.urandom(208) + SCALE
    whole, rest = divmod(number, 4096)
    if whole == 0:
        return bytes(sample)
    return bytes(sample) * whole + bytes(sample[: rest * len(sample) // 4096])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pairs, listed = metadata(sys.argv[1]), list(tensors())
    head = struct.pack("<IIQQ", 0x46554747, 3, len(listed), len(pairs)) + b"".join(pairs)
    offset, sizes = 0, []
    for name, shape, kind in listed:
        count = 1
        for n in shape:
            count *= n
        size = {F32: 4 * count, Q4_K: count // 256 * 144, Q6_K: count // 256 * 210}[kind]
        head += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        head += struct.pack("<IQ", kind, offset)
        sizes.append((kind, count, size))
        offset += -(-size // ALIGN) * ALIGN
    with open(sys.argv[2], "wb") as out:
        out.write(head + b"\0" * (-len(head) % ALIGN))
        for kind, count, size in sizes:
            data = blocks(kind, count)
            assert len(data) == size
            out.write(data + b"\0" * (-size % ALIGN))
        print(f"{sys.argv[2]}: {out.tell()} bytes")


main()
