"""Models behind OpenAI-compatible endpoints: OpenAI itself, a vLLM server, Ollama, a proxy."""
