"""Builds a tiny encoder from the bundled corpus, for runs and tests on machines without a GPU and without a network.

    python -m dialeval.engines.encoder.tiny_encoder DIR [--steps N] [--architecture NAME] [--random-seed N]

It has the form of a Hugging Face encoder and about 0.3 million parameters, at their random start or after some steps of
guessing masked words. It is there to exercise training and scoring, not to judge: what such an encoder can learn is
whether words stand in order or come twice, not whether a response is relevant.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dialeval.corpora.dialogues import BUNDLED, bundled_dialogues
from dialeval.engines.installation import SCORES, missing_libraries
from dialeval.errors import UserError

VOCABULARY = 2000
POSITIONS = 512
WIDTH, LAYERS, HEADS = 64, 2, 2
START, PADDING, END, UNKNOWN, MASK = "<s>", "<pad>", "</s>", "<unk>", "<mask>"
MASKED = 0.15
LEARNING_RATE = 2e-3
BATCH, LONGEST = 32, 96
ARCHITECTURES = ("xlm-roberta", "bert", "roberta", "distilbert", "electra", "modernbert")


def build_tiny_encoder(folder: Path, *, steps: int = 0, architecture: str = "xlm-roberta", random_seed: int = 0) -> int:
    """Make a tiny encoder and save it as a folder that transformers reads.

    Args:
        folder: where it goes; made if it is not there.
        steps: of guessing masked words; 0 leaves it at its random start.
        architecture: one of `ARCHITECTURES`.
        random_seed: of the random start and of what is masked.

    Returns:
        The number of parameters.

    Raises:
        UserError: a package is missing, the architecture is unknown, or the folder holds something else.
    """
    problem = missing_libraries("a tiny encoder", SCORES)
    if problem:
        raise UserError(problem)
    if architecture not in ARCHITECTURES:
        raise UserError(
            f"'{architecture}' is not an architecture of a tiny encoder; choose from: {', '.join(ARCHITECTURES)}"
        )
    if folder.exists() and any(folder.iterdir()) and not (folder / "config.json").exists():
        raise UserError(f"{folder} is not empty and has no model; name a new folder")
    import torch
    import transformers

    transformers.utils.logging.disable_progress_bar()
    folder.mkdir(parents=True, exist_ok=True)
    texts = [part.text for name in BUNDLED for one in bundled_dialogues(name).dialogues for part in one.utterances]
    tokenizer = _tokenizer(texts, numbered=architecture in ("bert", "electra"))
    torch.manual_seed(random_seed)
    config = transformers.AutoConfig.for_model(architecture, **_shape(architecture, tokenizer))
    if steps:
        model = transformers.AutoModelForMaskedLM.from_config(config)
        _guess_masked(model, tokenizer, texts, steps, np.random.default_rng(random_seed))
        body = model.base_model
    else:
        body = transformers.AutoModel.from_config(config)
    tokenizer.save_pretrained(folder)
    body.save_pretrained(folder)
    return int(body.num_parameters())


def main() -> None:
    """Build an encoder from the command line."""
    parser = argparse.ArgumentParser(prog="python -m dialeval.engines.encoder.tiny_encoder", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder for the encoder")
    parser.add_argument(
        "--steps", type=int, default=0, help="training steps of masked word prediction (default %(default)s)"
    )
    parser.add_argument("--architecture", choices=ARCHITECTURES, default=ARCHITECTURES[0], help="default %(default)s")
    parser.add_argument(
        "--random-seed", type=int, default=0, help="random seed of the weights and the masks (default 0)"
    )
    options = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        parameters = build_tiny_encoder(
            options.folder, steps=options.steps, architecture=options.architecture, random_seed=options.random_seed
        )
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    print(f"{options.folder}: an encoder of {parameters:,} parameters")


def _tokenizer(texts: Sequence[str], *, numbered: bool) -> Any:
    """Return a byte-level tokenizer with a RoBERTa's special tokens; `numbered` tells the parts of a pair apart."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[START, PADDING, END, UNKNOWN, MASK],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    second = "$B:1 </s>:1" if numbered else "</s> $B </s>"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{START} $A {END}",
        pair=f"{START} $A {END} {second}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (START, END)],
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=START,
        cls_token=START,
        eos_token=END,
        sep_token=END,
        pad_token=PADDING,
        unk_token=UNKNOWN,
        mask_token=MASK,
        model_max_length=POSITIONS,
        model_input_names=["input_ids", *(["token_type_ids"] if numbered else []), "attention_mask"],
    )


def _shape(architecture: str, tokenizer: Any) -> dict[str, Any]:
    """Return the fields of a configuration, by the names that its architecture gives them."""
    shape: dict[str, Any] = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    if architecture == "distilbert":
        sizes = {"dim": WIDTH, "hidden_dim": 2 * WIDTH, "n_layers": LAYERS, "n_heads": HEADS}
        return shape | sizes | {"max_position_embeddings": POSITIONS}
    shape |= {"hidden_size": WIDTH, "intermediate_size": 2 * WIDTH, "num_hidden_layers": LAYERS}
    shape |= {
        "num_attention_heads": HEADS,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    if architecture == "modernbert":
        specials = {"cls_token_id": tokenizer.bos_token_id, "sep_token_id": tokenizer.eos_token_id}
        return shape | specials | {"max_position_embeddings": POSITIONS}
    if architecture in ("bert", "electra"):
        return (
            shape
            | {"max_position_embeddings": POSITIONS}
            | ({"embedding_size": WIDTH} if architecture == "electra" else {})
        )
    return shape | {"max_position_embeddings": POSITIONS + tokenizer.pad_token_id + 1, "type_vocab_size": 1}


def _guess_masked(model: Any, tokenizer: Any, texts: Sequence[str], steps: int, generator: np.random.Generator) -> None:
    """Train a model to guess words that are masked."""
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    model.train()
    for step in range(1, steps + 1):
        drawn = [texts[place] for place in generator.integers(len(texts), size=BATCH)]
        batch = tokenizer(drawn, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
        ids, there = batch["input_ids"], batch["attention_mask"].bool()
        masked = torch.from_numpy(generator.random(tuple(ids.shape)) < MASKED) & there & (ids > 4)
        labels = ids.masked_fill(~masked, -100)
        logits = model(input_ids=ids.masked_fill(masked, tokenizer.mask_token_id), attention_mask=there.long()).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0 or step == steps:
            print(f"tiny encoder: step {step}/{steps}, loss {loss.item():.2f}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
