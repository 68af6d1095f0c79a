"""Judgements in, tables out: rates, means, ratings, differences and agreement of systems and judges."""
