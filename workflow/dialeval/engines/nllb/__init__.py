"""Translation models of the NLLB family, computed by transformers."""
