"""How one model is shown what it is asked: its tokenizer, its chat template, and how it marks its reasoning.

Training an adapter renders with this too, so that what is learned is what is asked. Nothing of vLLM is needed for it.
"""

from __future__ import annotations

from functools import cached_property

from dialeval.config.vllm_model import VllmModel
from dialeval.engines.request import Message
from dialeval.engines.vllm_engine.loading import load_tokenizer
from dialeval.engines.vllm_engine.reasoning import Reasoning, reasoning_of
from dialeval.engines.vllm_engine.templates import ChatTemplate, special_tokens
from dialeval.engines.vllm_engine.tokenization import Tokenization


class Prompts:
    """Renders and tokenises what one model is asked.

    Args:
        model: the model's configuration.

    Attributes:
        tokenizer: of transformers.
        weights: the commit at Hugging Face, or the digest of a folder's content, as in `identity.py`.
        model: the configuration with that commit as its revision.
        template: its chat template.
        reasoning: how it marks its reasoning.

    Raises:
        UserError: the model cannot be found, or its template or its marks cannot be used.
    """

    def __init__(self, model: VllmModel) -> None:
        self.tokenizer, self.weights = load_tokenizer(model)
        if not self.weights.startswith("sha256:") and self.weights:
            model = model.model_copy(update={"revision": self.weights})
        self.model = model
        self.template = ChatTemplate(self.tokenizer, model.chat_template, model.chat_template_options, model.model)
        self.reasoning: Reasoning = reasoning_of(
            model.reasoning_parser,
            self.template.text,
            special_tokens(self.tokenizer),
            self.tokenizer,
            model.chat_template_options,
        )

    @cached_property
    def tokenization(self) -> Tokenization:
        """Turns prompts into tokens."""
        return Tokenization(self.tokenizer, self.template)

    def behind_reasoning(self, rendered: str, prompt: list[int]) -> list[int]:
        """Returns the tokens of a prompt up to where the answer itself begins: its reasoning is left empty."""
        behind = self.reasoning.before_label(rendered)
        return prompt if behind == rendered else self.tokenization.tokens(behind)

    def before_label(self, messages: tuple[Message, ...]) -> list[int]:
        """Returns the tokens behind which a label is to stand; they are not to be changed."""
        return self.behind_reasoning(*self.tokenization.prompt(messages))

    def encode(self, text: str) -> list[int]:
        """Returns the tokens of a text without special tokens."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
