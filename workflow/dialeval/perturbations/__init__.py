"""Perturbations of good responses and dialogues that a judge should score lower (comp-analysis, Tables 10 and 11).

`registry` lists every strategy by name, applies one to an item and builds severity ladders; `turn_strategies` and
`dialogue_strategies` define the strategies; `rewriting` applies some by a model; `suite` applies all to all items.
"""
