"""Engines: requests to models, their responses, and the store that keeps the responses.

    requests                    requests, responses, and the key under which a response is stored
    answering, early_stop       opens an engine and sends each distinct request once, unless its response is stored
    availability, installation  the reasons why a model cannot run on this machine
    store/                      all stored responses
    spending/                   prices, costs and budgets

An engine is a module with a function `open_model`, which the model's configuration names:

    embedded/                   methods that are part of this library, for runs without weights and without a network
    openai_api/                 endpoints with OpenAI's protocol; with retries, and batches for half the price
    vllm_engine/                models that vLLM runs on this machine
    encoder/, nllb              trained metrics and translation models, computed by transformers

For endpoints: rate_limits (requests in flight and per minute), request_speed (learned limits), circuit_breaker.
For several engines: label_probabilities (labels as tokens), cl100k (lengths of texts in tokens). tiny_model builds
models to try the workflow with.
"""
