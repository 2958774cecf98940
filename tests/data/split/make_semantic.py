"""Writes semantic.json: where LlamaIndex's SemanticSplitterNodeParser and LangChain's SemanticChunker break.

    pip install llama-index-core langchain-experimental
    python make_semantic.py

Sentences are given to both, as offsets that are recorded with the result. The embedding is a count of hashed pairs of
characters, which a test can compute too.
"""

import json
import re
from pathlib import Path

from langchain_core.embeddings import Embeddings
from langchain_experimental.text_splitter import SemanticChunker
from llama_index.core import Document
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import SemanticSplitterNodeParser

HERE = Path(__file__).parent
NAMES = ["storm_en.txt", "spindle_zh.md", "flood_zh.txt", "leave_en.txt"]
WIDTH = 64


def fnv(text: str) -> int:
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def embed(text: str) -> list[float]:
    vector = [0.0] * WIDTH
    for at in range(len(text) - 1):
        vector[fnv(text[at : at + 2]) % WIDTH] += 1.0
    return vector


class Pairs(BaseEmbedding):
    def _get_text_embedding(self, text):
        return embed(text)

    def _get_query_embedding(self, query):
        return embed(query)

    async def _aget_query_embedding(self, query):
        return embed(query)


class ChainPairs(Embeddings):
    def embed_documents(self, texts):
        return [embed(text) for text in texts]

    def embed_query(self, text):
        return embed(text)


class Given(SemanticChunker):
    """Takes its sentences from outside."""

    def _get_single_sentences_list(self, text):
        return self.given


def starts_of(text: str) -> list[int]:
    """Starts of sentences: after a mark and white space, and after blank lines."""
    starts = [0]
    for match in re.finditer(r"(?:[.!?]\s+|[。！？]\s*|\n\s*\n\s*)(?=\S)", text):
        starts.append(match.end())
    return starts


def breaks_of(chunks: list[str], sentences: list[str], joint: str) -> list[int]:
    """Indices of the sentences that end a chunk, the last one left out."""
    breaks, at = [], 0
    for chunk in chunks:
        start = at
        while joint.join(sentences[start:at]) != chunk or at == start:
            at += 1
            assert at <= len(sentences), chunk
        breaks.append(at - 1)
    assert at == len(sentences)
    return breaks[:-1]


def main() -> None:
    documents = []
    for name in NAMES:
        text = (HERE / name).read_text(encoding="utf-8")
        starts = starts_of(text)
        whole = [text[a:b] for a, b in zip(starts, starts[1:] + [len(text)])]
        bare = [sentence.strip() for sentence in whole]
        llama, chain = [], []
        for buffer in (0, 1, 2):
            for percent in (95, 80, 50):
                parser = SemanticSplitterNodeParser(
                    buffer_size=buffer,
                    breakpoint_percentile_threshold=percent,
                    embed_model=Pairs(),
                    sentence_splitter=lambda _: whole,
                )
                chunks = [node.text for node in parser.get_nodes_from_documents([Document(text=text)])]
                llama.append({"buffer": buffer, "percent": percent, "breaks": breaks_of(chunks, whole, "")})
        for buffer in (1, 2):
            for kind, amount, count, least in [
                ("percentile", 95, None, None),
                ("percentile", 80, None, 200),
                ("standard_deviation", 3, None, None),
                ("standard_deviation", 1, None, None),
                ("interquartile", 1.5, None, None),
                ("interquartile", 0.5, None, None),
                ("gradient", 95, None, None),
                ("gradient", 80, None, None),
                ("sections", None, 1, None),
                ("sections", None, 5, None),
                ("sections", None, 12, None),
                ("sections", None, 1000, None),
            ]:
                chunker = Given(
                    ChainPairs(),
                    buffer_size=buffer,
                    breakpoint_threshold_type="percentile" if kind == "sections" else kind,
                    breakpoint_threshold_amount=amount,
                    number_of_chunks=count,
                    min_chunk_size=least,
                )
                chunker.given = bare
                chain.append({
                    "buffer": buffer,
                    "kind": kind,
                    "amount": count if kind == "sections" else amount,
                    "min": least or 0,
                    "breaks": breaks_of(chunker.split_text(text), bare, " "),
                })
        documents.append({"document": name, "starts": starts, "llama": llama, "chain": chain})
    defaults = {
        kind: Given(ChainPairs(), breakpoint_threshold_type=kind).breakpoint_threshold_amount
        for kind in ("percentile", "standard_deviation", "interquartile", "gradient")
    }
    out = json.dumps({"defaults": defaults, "documents": documents}, separators=(",", ":"))
    (HERE / "semantic.json").write_text(out.replace('{"buffer"', '\n{"buffer"').replace('{"document"', '\n{"document"') + "\n")
    for document in documents:
        print(document["document"], len(document["starts"]))
        print([len(case["breaks"]) for case in document["llama"]], [len(case["breaks"]) for case in document["chain"]])


main()
