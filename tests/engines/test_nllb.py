"""The engine of translation models, with a tiny one that is made on the spot and writes nonsense."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from dialeval.config import NllbModel
from dialeval.engines import installation
from dialeval.engines.availability import cannot_compute_here, unavailable
from dialeval.engines.nllb import check_memory
from dialeval.engines.requests import AnswerFailure, Message, Request, Response, Sampling
from dialeval.errors import UserError
from dialeval.prompts.rendering import Templates
from dialeval.translation.requests import Talk, plan

TEXTS = ["Hello there.", "Is there any milk left?", "No.", "Look behind the jam, or in the other fridge."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import M2M100Config, M2M100ForConditionalGeneration, NllbTokenizer

    pieces: Any = Tokenizer(models.BPE(unk_token="<unk>"))
    pieces.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces.train_from_iterator(TEXTS * 5, trainers.BpeTrainer(vocab_size=120, special_tokens=special))
    model = json.loads(pieces.to_str())["model"]
    tokenizer = NllbTokenizer(
        vocab=model["vocab"],
        merges=[tuple(merge) for merge in model["merges"]],
        extra_special_tokens=["eng_Latn", "zho_Hans", "spa_Latn"],
    )
    torch.manual_seed(1)
    layers: dict[str, Any] = {
        f"{side}_{what}": n
        for side in ("encoder", "decoder")
        for what, n in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 32))
    }
    config = M2M100Config(
        vocab_size=len(tokenizer), d_model=32, max_position_embeddings=64, decoder_start_token_id=2, **layers
    )
    path = tmp_path_factory.mktemp("nllb")
    M2M100ForConditionalGeneration(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def opened(folder: Path, **fields: Any) -> Any:
    from dialeval.engines.nllb import open_model

    return open_model(NllbModel(engine="nllb", model=str(folder), gpus=0, **fields), [], None, "translate")


def requests(texts: Iterable[str], target: str = "zh") -> list[Request]:
    talks = [Talk(text, ("a",), (text,)) for text in texts]
    planned = plan(talks, Templates(), corpus="c", source="en", target=target, context=0, max_tokens=12)
    return [one.request for one in planned]


def answered(engine: Any, requests: list[Request]) -> dict[str, Response | AnswerFailure]:
    async def all_of_them() -> dict[str, Response | AnswerFailure]:
        pairs = ((request.subject[0][0], request) for request in requests)
        return {key: outcome async for key, outcome in engine.answer_all(pairs, None)}

    return asyncio.run(all_of_them())


@pytest.mark.train
def test_a_translation_depends_on_neither_order_nor_company(folder: Path) -> None:
    together = answered(opened(folder), requests(TEXTS))
    alone = answered(opened(folder, batch_tokens=1), requests(reversed(TEXTS)))
    assert set(together) == set(TEXTS)
    assert together == alone
    single = asyncio.run(opened(folder).answer(requests(TEXTS)[3]))
    assert single == together[TEXTS[3]]


@pytest.mark.train
def test_a_translation_begins_in_the_target_language_and_has_its_finish_reason(folder: Path) -> None:
    engine = opened(folder)
    found = answered(engine, requests(TEXTS))
    assert all(isinstance(one, Response) and "zho_Hans" not in one.text for one in found.values())
    assert {one.finish_reason for one in found.values() if isinstance(one, Response)} <= {"stop", "length"}
    assert all(isinstance(one, Response) and (one.completion_tokens or 0) <= 12 for one in found.values())
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, src_lang="eng_Latn")
    chinese = tokenizer.convert_tokens_to_ids("zho_Hans")
    written = AutoModelForSeq2SeqLM.from_pretrained(folder).generate(
        **tokenizer(TEXTS[1], return_tensors="pt"), forced_bos_token_id=chinese, num_beams=4, max_new_tokens=12
    )
    assert written[0][1] == chinese
    one = found[TEXTS[1]]
    assert isinstance(one, Response)
    assert one.text == tokenizer.decode(written[0], skip_special_tokens=True).strip()


@pytest.mark.train
def test_a_language_that_the_model_lacks_and_other_requests_are_refused_in_words(folder: Path) -> None:
    (failure,) = answered(opened(folder), requests(TEXTS[:1], "fi")).values()
    assert isinstance(failure, AnswerFailure)
    assert str(failure) == "the model knows no language 'fi'"
    other = Request("x", "yes_no", "choice", (Message("user", "?"),), Sampling(), labels=("Yes", "No"))
    with pytest.raises(AnswerFailure, match="it only translates"):
        asyncio.run(opened(folder).answer(other))


@pytest.mark.train
def test_an_utterance_longer_than_the_window_is_cut_and_loses_nothing_silently(folder: Path) -> None:
    engine = opened(folder)
    long = "Is there any milk left? " * 30
    found = answered(engine, requests([long, TEXTS[0]]))
    assert found[TEXTS[0]] == answered(engine, requests(TEXTS[:1]))[TEXTS[0]]
    cut = found[long]
    assert isinstance(cut, Response)
    assert (cut.text, cut.finish_reason, cut.completion_tokens) == ("", "length", 0)
    assert (cut.prompt_tokens or 0) > 64


@pytest.mark.train
def test_what_looks_like_the_models_own_tokens_is_text(folder: Path) -> None:
    from transformers import AutoTokenizer

    special = set(AutoTokenizer.from_pretrained(folder).all_special_ids)
    translator = opened(folder)._translator
    ids = translator.encode("Hello <pad> zho_Hans there.", "eng_Latn")
    plain = translator.encode("Hello there.", "eng_Latn")
    assert (ids[0], ids[-1]) == (plain[0], plain[-1])
    unknown = {translator._tokenizer.unk_token_id}
    assert not (special - unknown).intersection(ids[1:-1])


@pytest.mark.train
def test_a_batch_that_is_too_large_for_the_memory_is_halved(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch

    engine = opened(folder)
    expected, real = answered(opened(folder), requests(TEXTS)), engine._translator._translated

    def small(sequences: Any, target: str, max_tokens: int) -> Any:
        if len(sequences) > 1:
            raise torch.OutOfMemoryError("out of memory")
        return real(sequences, target, max_tokens)

    monkeypatch.setattr(engine._translator, "_translated", small)
    assert answered(engine, requests(TEXTS)) == expected
    assert "too small for 4 utterances at once: 2 now" in capsys.readouterr().out

    def none(*_: Any) -> Any:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(engine._translator, "_translated", none)
    with pytest.raises(UserError, match=r"too small to translate \d+ tokens .* lower beams"):
        answered(engine, requests(TEXTS))


@pytest.mark.train
def test_weights_are_estimated_as_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoConfig, AutoModelForSeq2SeqLM

    from dialeval.engines import nllb

    needed = nllb.weights_bytes(AutoConfig.from_pretrained(folder), "bfloat16")
    network = AutoModelForSeq2SeqLM.from_pretrained(folder)
    assert needed == 2 * sum(part.numel() for part in network.parameters())
    monkeypatch.setattr(nllb, "free_memory", lambda on_cpu: 10)
    with pytest.raises(UserError, match=r"the weights of .* need 0\.0 GB, and this machine has 0\.0 GB"):
        answered(opened(folder), requests(TEXTS))


@pytest.mark.train
def test_a_model_of_the_same_kind_with_other_names_of_languages_is_refused(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        text = path.read_bytes()
        if path.suffix == ".json":
            text = text.replace(b"eng_Latn", b"__en__")
        (tmp_path / path.name).write_bytes(text)
    with pytest.raises(UserError, match=r"m2m_100.* has no language 'eng_Latn'.*M2M100, mBART and T5"):
        opened(tmp_path)


@pytest.mark.train
def test_its_identity_is_that_of_its_weights_and_search(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    assert opened(folder).identity == opened(copy).identity
    assert opened(folder).identity != opened(folder, beams=1).identity


@pytest.mark.train
def test_a_folder_without_a_model_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be loaded"):
        opened(tmp_path / "nowhere")
    from transformers import BertConfig

    BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1).save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"nllb"):
        opened(tmp_path)


# A translation model that does not fit is refused before it is loaded.

GIGABYTE = 2**30


def test_weights_that_do_not_fit_are_reported_with_what_helps() -> None:
    with pytest.raises(UserError, match=r"need 12\.5 GB, and the GPU has 8\.0 GB of memory free; set .*bfloat16"):
        check_memory("m", int(12.5 * GIGABYTE), 8 * GIGABYTE, on_gpu=True)


def test_what_fits_or_is_not_known_passes() -> None:
    check_memory("m", GIGABYTE, GIGABYTE, on_gpu=False)
    check_memory("m", GIGABYTE, None, on_gpu=False)


def test_a_gpu_that_is_not_there_and_a_format_that_the_cpu_lacks_are_reported_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installation, "usable_gpus", lambda: 0)
    reason = cannot_compute_here(NllbModel(engine="nllb"))
    assert reason is not None
    assert reason.startswith("gpus: 1, and this machine has no NVIDIA GPU")
    assert cannot_compute_here(NllbModel(engine="nllb", gpus=0)) is None
    halved = NllbModel(engine="nllb", gpus=0, precision="float16")
    assert "float16 needs a GPU" in (unavailable(halved, own_environment=True) or "")
