"""Perturbations of good responses and dialogues that a judge should score lower (comp-analysis, Tables 10 and 11).

`registry` knows every strategy by name and applies one to an item; `turn` and `dialogue` define them; `severity`
applies one again and again; `rewriting` asks a model where rules of words are not enough.
"""
