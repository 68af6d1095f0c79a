"""Which printed values of the papers come out: `python -m dialeval.printed_values DATA_DIR` writes the record of them.

DATA_DIR holds the public data as the target download leaves them. docs/papers.md is made of the record, and a test that
has the data computes every value again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dialeval.errors import UserError
from dialeval.papers.from_data import values_from_data
from dialeval.papers.from_rows import values_from_rows
from dialeval.papers.printed import write_record

USAGE = "python -m dialeval.printed_values DATA_DIR"


def main(arguments: list[str]) -> None:
    """Computes all values, writes the record and says how many are equal.

    Raises:
        UserError: there is not one argument, or the folder has no data of the papers.
    """
    if len(arguments) != 1:
        raise UserError(f"one folder of public data is needed: {USAGE}")
    values = [*values_from_data(Path(arguments[0])), *values_from_rows()]
    write_record(values)
    print(f"{sum(value.is_equal for value in values)} of {len(values)} printed values come out")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        sys.exit(str(error))
