"""Costs of models behind endpoints: prices, budgets, and a ledger of every try that may have been billed."""
