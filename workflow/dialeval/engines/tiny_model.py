"""Builds and trains a tiny chat model from the bundled corpus, for runs and tests on machines without a GPU.

    python -m dialeval.engines.tiny_model DIR [--steps N] [--random-seed N]

The model has 0.7 million parameters. Its dialogues and verdicts have the right form and no sense: it exercises the
workflow and is compared with nothing. The same options give the same model on the same machine and versions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dialeval.corpora.dialogues import BUNDLED, bundled_dialogues
from dialeval.engines.installation import TRANSLATES, missing_libraries
from dialeval.engines.requests import Dialogue
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates

VOCABULARY = 1024
CONTEXT_WINDOW = 4096
DEFAULT_STEPS = 450
TOKENS_PER_STEP = 2048
SHORT, LONG = 256, 1024
LONG_EVERY = 3
JUDGED = 8
"""Utterances that dialogues have at most in a judge's examples, so that these fit a long text."""
LEARNING_RATE = 3e-3
START, END, PADDING = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def build_tiny_model(folder: Path, *, steps: int = DEFAULT_STEPS, random_seed: int = 0) -> int:
    """Train a tiny chat model and save it as a folder that transformers and vLLM read.

    Args:
        folder: where it goes; made if it is not there.
        steps: steps of training; 0 leaves the model at its random start.
        random_seed: seed of the random start and of the order of the examples.

    Returns:
        The number of parameters.

    Raises:
        UserError: a package is missing, or the folder holds something else.
    """
    problem = missing_libraries("a tiny model", TRANSLATES)
    if problem:
        raise UserError(problem)
    if folder.exists() and any(folder.iterdir()) and not (folder / "config.json").exists():
        raise UserError(f"{folder} is not empty and has no model; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    dialogues = [
        tuple(utterance.text for utterance in dialogue.utterances)
        for language in BUNDLED
        for dialogue in bundled_dialogues(language).dialogues
    ]
    examples = Examples(dialogues, np.random.default_rng(random_seed))
    tokenizer = _train_tokenizer(dialogues, examples)
    model = _train_model(tokenizer, examples, steps, random_seed)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder, safe_serialization=True)
    generation = {"eos_token_id": tokenizer.convert_tokens_to_ids(END), "do_sample": False}
    (folder / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n", encoding="utf-8")
    return int(model.num_parameters())


class Example(NamedTuple):
    """A training text: a prompt and its answer."""

    prompt: str
    answer: str


class Examples:
    """Draws training texts: dialogues in the chatbot's prompt, and verdicts in the judge's.

    Of a dialogue all is learned, of a verdict only the verdict: the prompt before it is a hundred times as long.
    """

    def __init__(self, dialogues: Sequence[Dialogue], generator: np.random.Generator) -> None:
        self._dialogues = dialogues
        self._generator = generator
        self._templates = Templates()
        self._system = self._templates.render("selfchat.j2")

    def verdict(self) -> Example:
        """Return a prompt for a judge and its verdict."""
        return self.single_verdict() if self._generator.random() < 0.7 else self.pair_verdict()

    def chat(self) -> Example:
        """Return a dialogue, most often with the self-chat's system message."""
        roles = ("user", "assistant") if self._generator.random() < 0.5 else ("assistant", "user")
        system = [_message("system", self._system)] if self._generator.random() < 0.7 else []
        turns = [_message(roles[turn % 2], text) for turn, text in enumerate(self._dialogue())]
        return Example("", "".join(system + turns))

    def single_verdict(self) -> Example:
        """Return a UniEval prompt and a verdict: Yes where an utterance of another dialogue was put in."""
        dialogue = self._dialogue()[:JUDGED]
        if self._generator.random() < 0.5:
            answer = "Choice: No\nIndex: None\nReason: The utterances are short and answer each other."
        else:
            dialogue, place = self._perturbed(dialogue)
            answer = f"Choice: Yes\nIndex: {place}\nReason: Utterance {place} does not fit what came before."
        prompt = self._templates.render("unieval.j2", utterances=dialogue, speakers=None)
        return _verdict(prompt, answer)

    def pair_verdict(self) -> Example:
        """Return an Arena or GTEval prompt and a verdict."""
        perturbed = self._generator.random(2) < 0.5
        pair = [
            self._perturbed(self._dialogue()[:JUDGED])[0] if bad else self._dialogue()[:JUDGED] for bad in perturbed
        ]
        choice = {
            (False, False): "Neither",
            (True, False): "Conversation 1",
            (False, True): "Conversation 2",
            (True, True): "Both",
        }[bool(perturbed[0]), bool(perturbed[1])]
        template = "arena.j2" if self._generator.random() < 0.5 else "gteval.j2"
        prompt = self._templates.render(template, first=pair[0], second=pair[1])
        answer = f"Choice: {choice}\nReason: The replies there do not fit what came before."
        return _verdict(prompt, answer)

    def _dialogue(self) -> Dialogue:
        return self._dialogues[int(self._generator.integers(len(self._dialogues)))]

    def _perturbed(self, dialogue: Dialogue) -> tuple[Dialogue, int]:
        """Return a dialogue with a foreign utterance, and that utterance's number, counted from 1."""
        other = self._dialogue()
        place = int(self._generator.integers(1, len(dialogue)))
        foreign = other[int(self._generator.integers(len(other)))]
        return (*dialogue[:place], foreign, *dialogue[place + 1 :]), place + 1


def main() -> None:
    """Build a model from the command line."""
    parser = argparse.ArgumentParser(prog="python -m dialeval.engines.tiny_model", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder for the model")
    parser.add_argument("--steps", type=int, default=DEFAULT_STEPS, help="steps of training (default %(default)s)")
    parser.add_argument(
        "--random-seed", type=int, default=0, help="random seed of the weights and the examples (default 0)"
    )
    options = parser.parse_args()
    try:
        n_parameters = build_tiny_model(options.folder, steps=options.steps, random_seed=options.random_seed)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    print(f"{options.folder}: a chat model of {n_parameters:,} parameters")


def _train_tokenizer(dialogues: Sequence[Dialogue], examples: Examples) -> Any:
    """Return a byte-level BPE tokenizer that knows the dialogues and the prompts."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[PADDING, START, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    makers = (examples.chat, examples.single_verdict, examples.pair_verdict)
    prompts = ["".join(maker()) for maker in makers for _ in range(8)]
    tokenizer.train_from_iterator([*(text for dialogue in dialogues for text in dialogue), *prompts], trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=PADDING,
        chat_template=CHAT_TEMPLATE,
        model_max_length=CONTEXT_WINDOW,
    )


def _train_model(tokenizer: Any, examples: Examples, steps: int, random_seed: int) -> Any:
    """Return a small Llama, trained to go on with the texts; long texts are cut to their last tokens."""
    import torch
    import transformers

    torch.manual_seed(random_seed)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=352,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=CONTEXT_WINDOW,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.convert_tokens_to_ids(END),
        pad_token_id=tokenizer.convert_tokens_to_ids(PADDING),
        dtype="float32",
    )
    model: Any = transformers.LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=max(steps, 2), pct_start=0.1)
    for step in range(1, steps + 1):
        length = LONG if step % LONG_EVERY == 0 else SHORT
        draw = examples.verdict if length == LONG else examples.chat  # a verdict needs to see all of its prompt
        drawn = [draw() for _ in range(TOKENS_PER_STEP // length)]
        rows = [[tokenizer(part, add_special_tokens=False)["input_ids"] for part in example] for example in drawn]
        width = min(length, max(len(prompt) + len(answer) for prompt, answer in rows))
        ids = torch.full((len(rows), width), config.pad_token_id)
        labels = torch.full((len(rows), width), -100)
        for place, (prompt, answer) in enumerate(rows):
            row, learned = (prompt + answer)[-width:], min(len(answer), width)
            ids[place, : len(row)] = torch.tensor(row)
            labels[place, len(row) - learned : len(row)] = torch.tensor(row[-learned:])
        logits = model(input_ids=ids, attention_mask=(ids != config.pad_token_id).long()).logits
        losses = torch.nn.functional.cross_entropy(
            logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100, reduction="none"
        ).view(len(rows), -1)
        counts = (labels[:, 1:] >= 0).sum(dim=1)
        loss = (losses.sum(dim=1) / counts).mean()  # a short verdict counts as much as a long dialogue
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 0 or step == steps:
            print(f"tiny model: step {step}/{steps}, loss {loss.item():.2f}", file=sys.stderr, flush=True)
    return model


def _message(role: str, content: str) -> str:
    return f"{START}{role}\n{content}{END}\n"


def _verdict(prompt: str, answer: str) -> Example:
    opening, _, closing = _message("assistant", answer).partition(answer)
    return Example(_message("user", prompt) + opening, answer + closing)


if __name__ == "__main__":
    main()
