"""Engines: what a model is asked, how it is answered, and where the answers are kept.

    request, answer_values      a question, an answer, and the key under which the answer is kept
    answering                   asks each distinct request once: from the store, or else from the engine
      running, early_stop         ended in order by Ctrl-C, and early where every request is in vain
      remarks                     what is remarkable about the answers, for the log
    opening, availability       from a model's configuration to its engine, and what is missing here to run it
    store/, turn_writes         every answer ever given, and how lines reach the disk
    spending/, prices           what answers cost, and budgets

An engine is a package with a module `opening`, which the model's configuration names:

    embedded/                   methods that are part of this library, for runs without weights and without a network
    openai_api/                 endpoints that speak OpenAI's protocol; pacing/ says how fast they are asked
    vllm_engine/                models that vLLM runs on this machine
    encoder/, nllb/             trained metrics and translation models, computed by transformers

What several of them use: labels as tokens (labels), what a model is told beside the dialogue (system_messages), which
inputs are computed together (length_batches), GPUs, libraries and files of this machine (gpus, local_models,
local_content), and lengths of texts in tokens (cl100k, cl100k_vocabulary). tiny_model builds models to try the workflow
with.
"""
