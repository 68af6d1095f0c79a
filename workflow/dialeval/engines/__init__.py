"""Engines: what a model is asked, how it is answered, and where the answers are kept.

    request                     a question, an answer, and the key under which the answer is kept
    answering                   asks each distinct request once: from the store, or else from the engine
    opening, availability       from a model's configuration to its engine, and what is missing here to run it
    store/                      every answer ever given
    spending/, prices           what answers cost, and budgets

An engine is a package with a module `opening`, which the model's configuration names:

    embedded/                   methods that are part of this library, for runs without weights and without a network
    openai_api/                 endpoints that speak OpenAI's protocol; pacing/ says how fast they are asked
    vllm_engine/                models that vLLM runs on this machine
    encoder/, nllb/             trained metrics and translation models, computed by transformers

What several of them use: `labels` (labels as tokens), `system_messages`, `length_batches`, `local_models` and
`local_content` (libraries and files of this machine), `cl100k` (lengths of texts in tokens). `tiny_model` builds models
to try the workflow with.
"""
