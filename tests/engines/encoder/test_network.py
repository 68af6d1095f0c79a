"""The network: pooling, heads, adapters, and the architectures that it stands on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tiny_metrics import tiny_encoder

from dialeval.engines.encoder.tiny_encoder import ARCHITECTURES
from dialeval.errors import UserError

pytestmark = pytest.mark.train
TURNS = [("Hello there!", "How are you?"), ("Hi",), ("What a day. " * 9, "Indeed", "Is it?")]


@pytest.fixture(scope="session", params=ARCHITECTURES)
def body_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("bodies") / "tiny", architecture=request.param)


def network_of(folder: Path, **options: Any) -> Any:
    import torch
    import transformers

    from dialeval.engines.encoder.network import ExpertNetwork

    torch.manual_seed(1)
    return ExpertNetwork(transformers.AutoModel.from_pretrained(folder, dtype=torch.float32), 3, **options)


def inputs(folder: Path, network: Any) -> dict[str, Any]:
    import transformers

    from dialeval.engines.encoder.metric import Encoding, padded

    encoding = Encoding(transformers.AutoTokenizer.from_pretrained(folder), "turn", 48)
    return padded(encoding.encode(TURNS), encoding.pad, "cpu", segments=encoding.segments(network))


def test_the_score_is_the_heads_of_the_mean_over_what_is_no_padding(body_folder: Path) -> None:
    import torch

    network = network_of(body_folder).eval()
    batch = inputs(body_folder, network)
    with torch.no_grad():
        hidden = network.body(**batch).last_hidden_state
        for row, mask in enumerate(batch["attention_mask"]):
            mean = hidden[row, : int(mask.sum())].mean(dim=0)
            expected = torch.stack([head(mean)[0] for head in network.heads])
            torch.testing.assert_close(network.all_logits(**batch)[row], expected, atol=1e-5, rtol=1e-4)
            torch.testing.assert_close(network(**batch, expert=2)[row], expected[2], atol=1e-5, rtol=1e-4)


def test_a_head_of_parts_sees_context_and_response_apart(body_folder: Path) -> None:
    import torch
    import transformers

    from dialeval.engines.encoder.metric import Encoding

    network = network_of(body_folder, pooling="parts").eval()
    batch = inputs(body_folder, network)
    encoding = Encoding(transformers.AutoTokenizer.from_pretrained(body_folder), "turn", 48)
    to_body = ["input_ids", "attention_mask", *(["token_type_ids"] if network.takes_segments else [])]
    with torch.no_grad():
        hidden = network.body(**{name: batch[name] for name in to_body}).last_hidden_state
        for row, one in enumerate(encoding.encode(TURNS)):
            context = hidden[row, : one.second].mean(dim=0)
            response = hidden[row, one.second : len(one.ids)].mean(dim=0)
            seen = torch.cat([context, response, context * response, (context - response).abs()])
            torch.testing.assert_close(
                network.all_logits(**batch)[row, 2], network.heads[2](seen)[0], atol=1e-5, rtol=1e-4
            )


def test_adapters_change_nothing_at_their_start_and_then_their_own_expert_alone(body_folder: Path) -> None:
    import torch

    plain, adapted = network_of(body_folder).eval(), network_of(body_folder, adapter_size=8).eval()
    adapted.heads.load_state_dict(plain.heads.state_dict())
    batch = inputs(body_folder, plain)
    with torch.no_grad():
        before = plain.all_logits(**batch)
        torch.testing.assert_close(adapted.all_logits(**batch), before)
        for part in adapted.adapters.sets[1]:
            torch.nn.init.normal_(part.up.weight)
        after = adapted.all_logits(**batch)
        torch.testing.assert_close(after[:, [0, 2]], before[:, [0, 2]])
        assert (after[:, 1] - before[:, 1]).abs().min() > 1e-6
        torch.testing.assert_close(adapted(**batch, expert=1), after[:, 1])
    assert len(adapted.adapters.sets[1]) == 4  # two in each of two layers


def test_adapters_learn_where_the_body_does_not(body_folder: Path) -> None:
    network = network_of(body_folder, adapter_size=8).train()
    network.body.requires_grad_(False)
    network.gradient_checkpointing_enable()
    network(**inputs(body_folder, network), expert=0).sum().backward()
    assert all(part.up.weight.grad is not None for part in network.adapters.sets[0])
    assert all(part.up.weight.grad is None for part in network.adapters.sets[1])
    assert all(weight.grad is None for weight in network.body.parameters())


def test_adapters_in_a_body_of_unknown_form_are_refused_and_heads_work(encoder: Path) -> None:
    import torch
    import transformers

    from dialeval.engines.encoder.network import ExpertNetwork

    config = transformers.T5Config(d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2, vocab_size=500)
    body = transformers.T5EncoderModel(config)
    with pytest.raises(UserError, match="type 't5'; supported: BERT.*adapter_size: 0"):
        ExpertNetwork(body, 2, adapter_size=4)
    ids = torch.ones((2, 5), dtype=torch.long)
    assert ExpertNetwork(body, 2)(ids, ids, expert=1).shape == (2,)
