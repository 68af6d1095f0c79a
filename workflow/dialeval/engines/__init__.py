"""Engines: requests to models, their responses, and the store that keeps the responses.

    requests                    requests, responses, and the key under which a response is stored
    answering, early_stop       opens a model's engine and asks each distinct request once: from the store, or else from
                                the engine; ended in order by Ctrl-C, and early where everything is refused
    availability                the reasons why a model cannot run here
    store/                      all stored responses, and how lines reach the disk
    spending/                   the cost of answers, and budgets

An engine is a module with a function `open_model`, which the model's configuration names:

    embedded/                   methods that are part of this library, for runs without weights and without a network
    openai_api/                 endpoints with OpenAI's protocol; rate_limits/ limits the speed of requests
    vllm_engine/                models that vLLM runs on this machine
    encoder/, nllb              trained metrics and translation models, computed by transformers

What several of them use: label_probabilities (labels as tokens), local_models (libraries, GPUs and inputs that are
computed together), cl100k (lengths of texts in tokens). tiny_model builds models to try the workflow with.
"""
