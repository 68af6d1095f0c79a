"""Engines: what a model is asked, how it is answered, and where the answers are kept.

    requests                    a question, an answer, and the key under which the answer is kept
    answering                   asks each distinct request once: from the store, or else from the engine
    early_stop                  ends a job early where every request is in vain
    opening, availability       from a model's configuration to its engine, and what is missing here to run it
    store/                      every answer ever given, and how lines reach the disk
    spending/                   what answers cost, and budgets

An engine is a module with a function `open_model`, which the model's configuration names:

    embedded/                   methods that are part of this library, for runs without weights and without a network
    openai_api/                 endpoints that speak OpenAI's protocol; rate_limits/ says how fast they are asked
    vllm_engine/                models that vLLM runs on this machine
    encoder/, nllb              trained metrics and translation models, computed by transformers

What several of them use: label_probabilities (labels as tokens), local_models (libraries, GPUs and inputs that are
computed together), cl100k (lengths of texts in tokens). tiny_model builds models to try the workflow with.
"""
