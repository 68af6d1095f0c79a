"""The network of a metric: an encoder's body, the mean of its last hidden states, and a head per expert."""

from __future__ import annotations

from inspect import signature
from typing import Any

import torch
from torch import nn

from dialeval.engines.encoder.adapters import Adapters


class ExpertNetwork(nn.Module):  # type: ignore[misc]
    """An encoder with a head, and perhaps adapters, per expert.

    Args:
        body: an encoder of transformers.
        experts: how many experts there are.
        adapter_size: width of their adapters; 0 without.
        dropout: before the heads, while it learns.

    Attributes:
        takes_segments: whether the body tells the two parts of a pair apart by numbers.
    """

    main_input_name = "input_ids"  # what the trainer counts tokens by

    def __init__(self, body: Any, experts: int, *, adapter_size: int = 0, dropout: float = 0.0) -> None:
        super().__init__()
        width = int(body.config.hidden_size)
        if getattr(body, "pooler", None) is not None:
            body.pooler = nn.Identity()  # a layer behind the first token, of which nothing is used
        self.body = body
        self.takes_segments = getattr(body.config, "type_vocab_size", 0) > 1 and "token_type_ids" in (
            signature(body.forward).parameters
        )
        self.adapters = Adapters(body, width, adapter_size, experts) if adapter_size else None
        self.dropout = nn.Dropout(dropout)
        self.heads = nn.ModuleList(nn.Linear(width, 1) for _ in range(experts))
        for head in self.heads:
            assert isinstance(head, nn.Linear)
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    @property
    def n_experts(self) -> int:
        """How many experts there are."""
        return len(self.heads)

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs: Any = None, **_: Any) -> None:
        """Lets the body compute its hidden states again for the gradient, in place of keeping them."""
        self.body.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        expert: int,
        token_type_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Returns the logit of one expert for each of a batch of sequences.

        Args:
            input_ids: sequences by tokens, padded.
            attention_mask: 1 for tokens, 0 for padding.
            expert: number of the expert, whose adapters and head are used.
            token_type_ids: number of the segment of each token, for bodies that have segments.
        """
        pooled = self._pooled(input_ids, attention_mask, expert, token_type_ids)
        found: torch.Tensor = self.heads[expert](self.dropout(pooled))
        return found.squeeze(-1).float()

    def all_logits(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Returns the logits of all experts, sequences by experts; without adapters the body is computed once."""
        passes = range(self.n_experts) if self.adapters is not None else (0,)
        pooled = [self._pooled(input_ids, attention_mask, expert, token_type_ids) for expert in passes]
        logits = [
            head(self.dropout(pooled[expert if self.adapters is not None else 0]))
            for expert, head in enumerate(self.heads)
        ]
        return torch.cat(logits, dim=-1).float()

    def _pooled(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, expert: int, token_type_ids: torch.Tensor | None
    ) -> torch.Tensor:
        if self.adapters is not None:
            self.adapters.chosen = expert
        segments = {} if token_type_ids is None else {"token_type_ids": token_type_ids}
        hidden = self.body(input_ids=input_ids, attention_mask=attention_mask, **segments).last_hidden_state
        mask = attention_mask.unsqueeze(-1).float()
        pooled: torch.Tensor = (hidden.float() * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
        return pooled
