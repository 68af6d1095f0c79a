"""The network of a trained metric: an encoder with adapters and a head per expert.

They stand behind the self-attention and behind the feed-forward part, before what was there is added again. Where that
is differs between architectures; it is found by the names of their parts.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, NamedTuple

import torch
from torch import nn

from dialeval.engines.encoder.metric import Pooling
from dialeval.errors import UserError


class ExpertNetwork(nn.Module):  # type: ignore[misc]
    """An encoder with a head, and perhaps adapters, per expert.

    Args:
        body: an encoder of transformers.
        experts: how many experts there are.
        adapter_size: width of their adapters; 0 without.
        dropout: before the heads, while it learns.
        pooling: what the heads see: `mean`, the mean hidden state; `parts`, that of the context, that of the response,
            their product and their absolute difference (Conneau et al. 2017).

    Attributes:
        takes_segments: whether the body tells the two parts of a pair apart by numbers.
    """

    main_input_name = "input_ids"  # what the trainer counts tokens by

    def __init__(
        self, body: Any, experts: int, *, adapter_size: int = 0, dropout: float = 0.0, pooling: Pooling = "mean"
    ) -> None:
        super().__init__()
        width = int(body.config.hidden_size)
        if getattr(body, "pooler", None) is not None:
            body.pooler = nn.Identity()  # an unused layer behind the first token
        self.body = body
        self.takes_segments = getattr(body.config, "type_vocab_size", 0) > 1 and "token_type_ids" in (
            signature(body.forward).parameters
        )
        self.adapters = Adapters(body, width, adapter_size, experts) if adapter_size else None
        self.dropout = nn.Dropout(dropout)
        self.pooling = pooling
        self.heads = nn.ModuleList(nn.Linear(width * (4 if pooling == "parts" else 1), 1) for _ in range(experts))
        for head in self.heads:
            assert isinstance(head, nn.Linear)
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    @property
    def n_experts(self) -> int:
        """How many experts there are."""
        return len(self.heads)

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs: Any = None, **_: Any) -> None:
        """Let the body compute its hidden states again for the gradient, in place of keeping them."""
        self.body.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        expert: int,
        token_type_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the logit of one expert for each of a batch of sequences.

        Args:
            input_ids: sequences by tokens, padded.
            attention_mask: 1 for tokens, 0 for padding.
            expert: number of the expert, whose adapters and head are used.
            token_type_ids: 1 for tokens of the response, else 0; for bodies that have segments, and for `parts`.
        """
        pooled = self.pooled(input_ids, attention_mask, expert, token_type_ids)
        found: torch.Tensor = self.heads[expert](self.dropout(pooled))
        return found.squeeze(-1).float()

    def all_logits(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the logits of all experts, sequences by experts; without adapters the body is computed once."""
        passes = range(self.n_experts) if self.adapters is not None else (0,)
        pooled = [self.pooled(input_ids, attention_mask, expert, token_type_ids) for expert in passes]
        logits = [
            head(self.dropout(pooled[expert if self.adapters is not None else 0]))
            for expert, head in enumerate(self.heads)
        ]
        return torch.cat(logits, dim=-1).float()

    def pooled(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        expert: int,
        token_type_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the input of an expert's head, shape [sequences, features]."""
        if self.adapters is not None:
            self.adapters.chosen = expert
        segments = {"token_type_ids": token_type_ids} if token_type_ids is not None and self.takes_segments else {}
        hidden = self.body(input_ids=input_ids, attention_mask=attention_mask, **segments).last_hidden_state.float()
        mask = attention_mask.float()
        if self.pooling == "mean":
            return _mean(hidden, mask)
        assert token_type_ids is not None
        context, response = _mean(hidden, mask * (1 - token_type_ids)), _mean(hidden, mask * token_type_ids)
        return torch.cat([context, response, context * response, (context - response).abs()], dim=-1)


def _mean(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    mask = mask.unsqueeze(-1)
    found: torch.Tensor = (hidden * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
    return found


# Adapters (Houlsby et al. 2019): two narrow layers in every layer of an encoder, one set per expert.

_START = 1e-3
"""Standard deviation of an adapter's narrow layer at its start; the layer back is zero, so that it changes nothing."""


class Adapter(nn.Module):  # type: ignore[misc]
    """A bottleneck of `size` units whose output is added to a hidden state."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(width, size), nn.Linear(size, width)
        nn.init.normal_(self.down.weight, std=_START)
        nn.init.zeros_(self.down.bias)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return hidden states with the adapter's output added."""
        changed: torch.Tensor = hidden + self.up(nn.functional.gelu(self.down(hidden)))
        return changed


class Adapters(nn.Module):  # type: ignore[misc]
    """The adapters of all experts; one expert's are active.

    Raises:
        UserError: where the parts of this encoder's layers are is not known.
    """

    def __init__(self, body: nn.Module, width: int, size: int, experts: int) -> None:
        super().__init__()
        places = adapted_parts(body)
        self.sets = nn.ModuleList(nn.ModuleList(Adapter(width, size) for _ in places) for _ in range(experts))
        self.chosen = 0
        for number, name in enumerate(places):
            body.get_submodule(name).register_forward_hook(self._hook(number))

    def _hook(self, number: int) -> Any:
        def changed(part: nn.Module, inputs: Any, output: torch.Tensor) -> torch.Tensor:
            expert: Any = self.sets[self.chosen]
            found: torch.Tensor = expert[number](output)
            return found

        return changed


def adapted_parts(body: nn.Module) -> list[str]:
    """Return the names of the parts that adapters follow, two for every layer.

    Raises:
        UserError: they cannot be found.
    """
    names = {name for name, _ in body.named_modules()}
    config: Any = body.config
    layers = getattr(config, "num_hidden_layers", None)
    for places in _PLACES:
        ends = tuple(f".{place}" for place in (places.attention, places.feed_forward))
        found = [
            layer + end
            for name in names
            if name.endswith(ends[0]) and (layer := name.removesuffix(ends[0])) + ends[1] in names
            for end in ends
        ]
        if found and len(found) == 2 * (layers or 0):
            return sorted(found, key=_natural)
    known = "; ".join(places.architectures for places in _PLACES)
    raise UserError(
        f"adapters are not supported for encoders of type '{config.model_type}'; supported: {known}. Set "
        f"adapter_size: 0 to train heads only, which works with every encoder"
    )


class _Places(NamedTuple):
    """Names of a layer's two modules whose output the adapters change, in some architectures."""

    architectures: str
    attention: str
    feed_forward: str


_PLACES = (
    _Places("BERT, RoBERTa, XLM-R, CamemBERT, DeBERTa, ELECTRA", "attention.output.dropout", "output.dropout"),
    _Places("DistilBERT", "attention.out_lin", "ffn"),
    _Places("ModernBERT", "attn.out_drop", "mlp"),
)


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Return a sort key of names with numbers in numeric order."""
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in name.split(".")]
