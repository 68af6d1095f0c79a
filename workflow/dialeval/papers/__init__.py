"""The four papers, item by item: what makes each of their tables and figures here, or why nothing does."""
