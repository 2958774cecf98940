"""Writes four tiny models with heads, in the layout of Hugging Face folders, and what each answers to a few inputs.

    pip install "transformers==4.46.3" "jax==0.4.35" "jaxlib==0.4.35" "flax==0.10.2" safetensors tokenizers numpy
    python make_heads.py

nsp                    BertForNextSentencePrediction: `cls.seq_relationship`; label 0 means that the second text follows
cross_segment          BertForSequenceClassification, two labels; label 1 means a boundary
rerank                 XLMRobertaForSequenceClassification, one label; positions start at 2, padding is 1
document_segmentation  BertForTokenClassification as ModelScope's nlp_bert_document-segmentation_chinese-base: keys `bert.*`
                       and `classifier.*`, no pooler; input `[CLS] s1 [EOS] s2 [EOS] …` without `[SEP]`, all of type 0;
                       the label at each `[EOS]` says whether a paragraph ends there: 0 is `B-EOP`, 1 is `O`

Weights are random with a fixed seed. The logits in golden.json are those of the Flax models of transformers, which are
checked here against a plain float64 computation.
"""

import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    FlaxBertForNextSentencePrediction,
    FlaxBertForSequenceClassification,
    FlaxBertForTokenClassification,
    FlaxXLMRobertaForSequenceClassification,
    XLMRobertaConfig,
)

HERE = Path(__file__).parent
HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 32, 2, 4, 64, 64

CHINESE = "主轴停机断电检查冷却水温度过高报警皮带更换加油复位的应当"
WORDS = ["the", "pump", "stop", "##s", "##ing", "##ed", "oil", "shaft", "is", "not", "belt", "check"]
PAIRS = [
    ("The pump stops.", "Check the oil."),
    ("the belt is not checked", "the shaft stopped!"),
    ("主轴停机。", "检查冷却水温度。"),
    ("温度过高，报警。", "The pump is stopping."),
    ("a", "b"),
    ("", "更换皮带。"),
    ("Zürich ÄÖÜ 42 %", "複位 ☃"),
    ("检查主轴温度，" * 6 + "停机。", "The oil is not the oil. " * 8),
]
DOCUMENTS = [
    ["主轴停机。", "断电检查。", "更换皮带。"],
    ["The pump stops.", "Check the oil."],
    ["温度过高，报警。"],
    ["停机。", "the belt is not checked", "加油。", "复位。", "a"],
    ["ok", "☃", "检查冷却水温度。"],
    ["应当停机。"] * 8,
    ["主轴" * 10, "The shaft is stopping."],
    ["检查皮带，" * 4, "更换皮带，" * 4, "加油，复位。" * 6],
]


def bert_vocabulary(last: list[str]) -> dict[str, int]:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces += list(letters) + ["##" + letter for letter in letters] + list("0123456789")
    pieces += list(".,!?。，！？") + list(dict.fromkeys(CHINESE)) + WORDS + last
    return {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}


def bert_tokenizer(last: list[str]) -> Tokenizer:
    vocabulary = bert_vocabulary(last)
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True) for token in ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + last])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokenizer


def unigram_tokenizer() -> Tokenizer:
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0)]
    words = ["▁the", "▁pump", "▁stop", "▁oil", "▁is", "▁not", "▁belt", "▁check", "▁shaft", "s", "ed", "ing",
             "主轴", "停机", "检查", "温度", "皮带", "。", "，"]
    pieces += [(word, -4.0 - 0.1 * rank) for rank, word in enumerate(words)]
    singles = list(dict.fromkeys("TCabcdefghijklmnopqrtuvwxyz0123456789.,!?%" + CHINESE))
    pieces += [(one, -8.0 - 0.01 * rank) for rank, one in enumerate(singles) if one not in words]
    pieces.append(("<mask>", 0.0))
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")])
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True) for token in ["<s>", "<pad>", "</s>", "<unk>"]]
        + [AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer


class Weights:
    """Random tensors under the names that PyTorch models give them."""

    def __init__(self, seed: int):
        self.random = np.random.default_rng(seed)
        self.tensors: dict[str, np.ndarray] = {}

    def normal(self, name: str, shape: tuple[int, ...], deviation: float, mean: float = 0.0) -> None:
        self.tensors[name] = (mean + deviation * self.random.standard_normal(shape)).astype(np.float32)

    def linear(self, name: str, out: int, width: int, deviation: float) -> None:
        self.normal(f"{name}.weight", (out, width), deviation)
        self.normal(f"{name}.bias", (out,), 0.1)

    def norm(self, name: str) -> None:
        self.normal(f"{name}.weight", (HIDDEN,), 0.1, 1.0)
        self.normal(f"{name}.bias", (HIDDEN,), 0.1)

    def encoder(self, prefix: str, vocabulary: int, positions: int, types: int, pooler: bool) -> None:
        self.normal(f"{prefix}.embeddings.word_embeddings.weight", (vocabulary, HIDDEN), 1.0)
        self.normal(f"{prefix}.embeddings.position_embeddings.weight", (positions, HIDDEN), 0.5)
        self.normal(f"{prefix}.embeddings.token_type_embeddings.weight", (types, HIDDEN), 0.5)
        self.norm(f"{prefix}.embeddings.LayerNorm")
        for layer in range(LAYERS):
            base = f"{prefix}.encoder.layer.{layer}"
            for part in ("query", "key", "value"):
                self.linear(f"{base}.attention.self.{part}", HIDDEN, HIDDEN, 0.3)
            self.linear(f"{base}.attention.output.dense", HIDDEN, HIDDEN, 0.25)
            self.norm(f"{base}.attention.output.LayerNorm")
            self.linear(f"{base}.intermediate.dense", INNER, HIDDEN, 0.25)
            self.linear(f"{base}.output.dense", HIDDEN, INNER, 0.25)
            self.norm(f"{base}.output.LayerNorm")
        if pooler:
            self.linear(f"{prefix}.pooler.dense", HIDDEN, HIDDEN, 0.25)

    def flax(self) -> dict:
        """The same tensors as the nested parameters of a Flax model."""
        tree: dict = {}
        for name, tensor in self.tensors.items():
            *path, leaf = name.split(".")
            if leaf == "weight":
                if "embeddings" in path[-1]:
                    leaf = "embedding"
                elif "LayerNorm" in path[-1]:
                    leaf = "scale"
                else:
                    leaf, tensor = "kernel", tensor.T
            node = tree
            for part in path:
                node = node.setdefault(part, {})
            node[leaf] = tensor
        return tree


def plain_encoder(t: dict, prefix: str, ids, types, first_position: int, epsilon: float) -> np.ndarray:
    """Hidden states of the last layer in float64."""
    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * t[f"{name}.weight"] + t[f"{name}.bias"]

    def linear(x, name):
        return x @ t[f"{name}.weight"].T.astype(np.float64) + t[f"{name}.bias"]

    base = f"{prefix}.embeddings"
    x = (t[f"{base}.word_embeddings.weight"][ids].astype(np.float64)
         + t[f"{base}.position_embeddings.weight"][first_position : first_position + len(ids)]
         + t[f"{base}.token_type_embeddings.weight"][types])
    x = norm(x, f"{base}.LayerNorm")
    size = HIDDEN // HEADS
    for layer in range(LAYERS):
        base = f"{prefix}.encoder.layer.{layer}"
        q, k, v = (linear(x, f"{base}.attention.self.{part}").reshape(-1, HEADS, size).swapaxes(0, 1)
                   for part in ("query", "key", "value"))
        scores = q @ k.swapaxes(1, 2) / math.sqrt(size)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(-1, HIDDEN)
        x = norm(x + linear(mixed, f"{base}.attention.output.dense"), f"{base}.attention.output.LayerNorm")
        inner = linear(x, f"{base}.intermediate.dense")
        inner = inner * 0.5 * (1.0 + np.vectorize(math.erf)(inner / math.sqrt(2.0)))
        x = norm(x + linear(inner, f"{base}.output.dense"), f"{base}.output.LayerNorm")
    return x


def plain_head(t: dict, names: list[str], x: np.ndarray) -> np.ndarray:
    """Linear layers with tanh between them."""
    for at, name in enumerate(names):
        x = x @ t[f"{name}.weight"].T.astype(np.float64) + t[f"{name}.bias"]
        if at + 1 < len(names):
            x = np.tanh(x)
    return x


def run(model, weights: Weights, config, ids: list[int], types: list[int], heads: list[str], first_only: bool):
    logits = model(
        np.array([ids]), attention_mask=np.ones((1, len(ids)), dtype=np.int32), token_type_ids=np.array([types]),
        params=weights.flax()).logits[0]
    logits = np.asarray(logits, dtype=np.float64)
    prefix = "roberta" if config.model_type == "xlm-roberta" else "bert"
    first = config.pad_token_id + 1 if prefix == "roberta" else 0
    states = plain_encoder(weights.tensors, prefix, ids, types, first, config.layer_norm_eps)
    plain = plain_head(weights.tensors, heads, states[0] if first_only else states)
    assert np.abs(logits - plain).max() < 2e-5, np.abs(logits - plain).max()
    return np.round(logits, 6).tolist()


def save(name: str, config, tokenizer: Tokenizer, weights: Weights, architecture: str, golden: list, extra: dict) -> None:
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    settings = config.to_dict()
    for key in ("transformers_version", "_name_or_path"):
        settings.pop(key, None)
    kept = {key: settings[key] for key in (
        "model_type", "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
        "hidden_act", "max_position_embeddings", "type_vocab_size", "layer_norm_eps", "pad_token_id",
        "position_embedding_type", "id2label", "label2id")}
    kept["architectures"] = [architecture]
    (folder / "config.json").write_text(json.dumps(kept, indent=2) + "\n")
    for file, content in extra.items():
        (folder / file).write_text(json.dumps(content, indent=2) + "\n")
    tokenizer.no_truncation()
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    save_file(weights.tensors, str(folder / "model.safetensors"), metadata={"format": "pt"})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in golden)
    (folder / "golden.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    total = sum(file.stat().st_size for file in folder.iterdir())
    print(name, config.vocab_size, total, [case["logits"] if name != "document_segmentation" else case["boundary"]
                                           for case in golden])
    assert total < 150_000


def pair_cases(tokenizer: Tokenizer, answer) -> list[dict]:
    """Pairs in one input; longer ones lose tokens of the longer text until they fit."""
    tokenizer.enable_truncation(POSITIONS, strategy="longest_first")
    cases = []
    for left, right in PAIRS:
        encoding = tokenizer.encode(left, right)
        cases.append({"left": left, "right": right, "truncated": bool(encoding.overflowing), "ids": encoding.ids,
                      "type_ids": encoding.type_ids, "logits": answer(encoding.ids, encoding.type_ids)})
    return cases


def bert_config(vocabulary: int, **labels) -> BertConfig:
    return BertConfig(
        vocab_size=vocabulary, hidden_size=HIDDEN, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=POSITIONS, **labels)


def pair_model(name: str, seed: int, architecture: str, flax, head: str, labels: dict) -> None:
    tokenizer = bert_tokenizer([])
    config = bert_config(tokenizer.get_vocab_size(), id2label=labels, label2id={v: k for k, v in labels.items()})
    weights = Weights(seed)
    weights.encoder("bert", config.vocab_size, POSITIONS, 2, pooler=True)
    weights.linear(head, 2, HIDDEN, 0.6)
    model = flax(config, _do_init=False)
    heads = ["bert.pooler.dense", head]
    golden = pair_cases(tokenizer, lambda ids, types: run(model, weights, config, ids, types, heads, True))
    save(name, config, tokenizer, weights, architecture, golden, {})


def rerank() -> None:
    tokenizer = unigram_tokenizer()
    labels = {0: "LABEL_0"}
    config = XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=HIDDEN, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=POSITIONS + 2, type_vocab_size=1, layer_norm_eps=1e-5,
        pad_token_id=1, bos_token_id=0, eos_token_id=2, id2label=labels, label2id={"LABEL_0": 0})
    weights = Weights(31)
    weights.encoder("roberta", config.vocab_size, POSITIONS + 2, 1, pooler=False)
    weights.linear("classifier.dense", HIDDEN, HIDDEN, 0.3)
    weights.linear("classifier.out_proj", 1, HIDDEN, 0.6)
    model = FlaxXLMRobertaForSequenceClassification(config, _do_init=False)
    heads = ["classifier.dense", "classifier.out_proj"]
    golden = pair_cases(tokenizer, lambda ids, types: run(model, weights, config, ids, types, heads, True))
    save("rerank", config, tokenizer, weights, "XLMRobertaForSequenceClassification", golden, {})


def document_segmentation() -> None:
    tokenizer = bert_tokenizer(["[EOS]"])
    labels = {0: "B-EOP", 1: "O"}
    config = bert_config(tokenizer.get_vocab_size(), id2label=labels, label2id={v: k for k, v in labels.items()})
    weights = Weights(47)
    weights.encoder("bert", config.vocab_size, POSITIONS, 2, pooler=False)
    weights.linear("classifier", 2, HIDDEN, 0.4)
    model = FlaxBertForTokenClassification(config, _do_init=False)
    start, end = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[EOS]")
    golden = []
    for sentences in DOCUMENTS:
        ids = [start]
        for sentence in sentences:
            ids += tokenizer.encode(sentence, add_special_tokens=False).ids + [end]
        truncated = len(ids) > POSITIONS
        ids = ids[:POSITIONS]
        logits = run(model, weights, config, ids, [0] * len(ids), ["classifier"], False)
        ends = [at for at, token in enumerate(ids) if token == end]
        boundary = [round(1 / (1 + math.exp(logits[at][1] - logits[at][0])), 6) for at in ends]
        golden.append({"sentences": sentences, "truncated": truncated, "ids": ids, "type_ids": [0] * len(ids),
                       "logits": logits, "ends": ends, "boundary": boundary})
    special = {"cls_token": "[CLS]", "eos_token": "[EOS]", "mask_token": "[MASK]", "pad_token": "[PAD]",
               "sep_token": "[SEP]", "unk_token": "[UNK]"}
    scope = {"framework": "pytorch", "task": "document-segmentation",
             "model": {"type": "bert", "level": "doc"}, "pipeline": {"type": "document-segmentation"}}
    save("document_segmentation", config, tokenizer, weights, "BertForTokenClassification", golden,
         {"special_tokens_map.json": special, "configuration.json": scope})


pair_model("nsp", 11, "BertForNextSentencePrediction", FlaxBertForNextSentencePrediction, "cls.seq_relationship",
           {0: "LABEL_0", 1: "LABEL_1"})
pair_model("cross_segment", 23, "BertForSequenceClassification", FlaxBertForSequenceClassification, "classifier",
           {0: "O", 1: "BOUNDARY"})
rerank()
document_segmentation()
