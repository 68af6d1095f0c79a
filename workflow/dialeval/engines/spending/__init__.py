"""What models behind endpoints cost: prices, budgets, and a ledger of every try that may have been billed."""
