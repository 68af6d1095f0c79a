"""Tables of measures from judgements, one function for each table.

Functions of a protocol's measures take its table `judgements` and its design (`design.Design`). A constant of each
module names the columns of `judgements` that its functions need.
"""
