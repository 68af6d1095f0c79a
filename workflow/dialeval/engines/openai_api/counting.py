"""Lengths of prompts for a model behind an endpoint, by its own vocabulary where that is at hand, and said which.

In this order: tiktoken's vocabulary of the model, if its file is in a cache (nothing is fetched); cl100k_base, see
`dialeval.engines.cl100k`; half a token per byte of UTF-8, which is more than texts have in practice.
"""

from __future__ import annotations

import hashlib
import os

from dialeval.engines.cl100k import WORDS_AND_MARKS, Tokenizer, cl100k_tokenizer
from dialeval.engines.cl100k_vocabulary import caches

UPPER_ESTIMATE = "upper estimate (half a token per byte)"
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def tokenizer_for(model: str) -> Tokenizer:
    """Returns the best way at hand to count a model's tokens.

    Args:
        model: the model's name at its endpoint.
    """
    own = _own_vocabulary(model)
    if own is not None:
        return own
    common = cl100k_tokenizer()
    if common.name != WORDS_AND_MARKS:
        return common
    return Tokenizer(UPPER_ESTIMATE, lambda texts: [-(-len(text.encode("utf-8", "replace")) // 2) for text in texts])


def _own_vocabulary(model: str) -> Tokenizer | None:
    import tiktoken

    try:
        name = tiktoken.encoding_name_for_model(model.rsplit("/", 1)[-1])
    except KeyError:
        return None
    file = hashlib.sha1(_ADDRESS.format(name).encode()).hexdigest()  # tiktoken's name for it
    folder = next((folder for folder in caches() if (folder / file).is_file()), None)
    if folder is None:
        return None
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    encoding = tiktoken.get_encoding(name)
    return Tokenizer(name, lambda texts: [len(encoding.encode_ordinary(text)) for text in texts])
