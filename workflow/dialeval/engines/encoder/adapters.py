"""Adapters (Houlsby et al. 2019): two narrow layers in every layer of an encoder, one set per expert.

They stand behind the self-attention and behind the feed-forward part, before what was there is added again. Where that
is differs between architectures; it is found by the names of their parts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn

from dialeval.errors import UserError


class _Places(NamedTuple):
    """Where the two adapters of a layer stand: parts of the layer by name, whose output they change."""

    architectures: str
    attention: str
    feed_forward: str


_PLACES = (
    _Places("BERT, RoBERTa, XLM-R, CamemBERT, DeBERTa, ELECTRA", "attention.output.dropout", "output.dropout"),
    _Places("DistilBERT", "attention.out_lin", "ffn"),
    _Places("ModernBERT", "attn.out_drop", "mlp"),
)
_START = 1e-3
"""Standard deviation of an adapter's narrow layer at its start; the layer back is zero, so that it changes nothing."""


class Adapter(nn.Module):  # type: ignore[misc]
    """What is added to a hidden state: through `size` units and back."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(width, size), nn.Linear(size, width)
        nn.init.normal_(self.down.weight, std=_START)
        nn.init.zeros_(self.down.bias)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Returns hidden states with what the adapter adds."""
        changed: torch.Tensor = hidden + self.up(nn.functional.gelu(self.down(hidden)))
        return changed


class Adapters(nn.Module):  # type: ignore[misc]
    """The adapters of all experts, of which one expert's are at work.

    Args:
        body: the encoder.
        width: of its hidden states.
        size: of the adapters.
        experts: how many sets there are.

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
    """Returns the names of the parts behind which adapters stand, two for every layer.

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
        f"where adapters would stand in an encoder of type '{config.model_type}' is not known; known: {known}. Set "
        "adapter_size: 0 for heads alone, which work with every encoder"
    )


def _natural(name: str) -> list[tuple[bool, int, str]]:
    """Returns what sorts names by the numbers in them."""
    return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in name.split(".")]
