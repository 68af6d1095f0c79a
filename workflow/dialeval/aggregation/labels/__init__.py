"""People's labels joined with judgements: what people would say, how far they agree, and who of them differs."""
