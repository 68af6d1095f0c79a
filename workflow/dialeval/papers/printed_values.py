"""Which printed values of the papers come out.

`python -m dialeval.papers.printed_values DATA_DIR` writes the record of them. DATA_DIR holds the public data as the
target download leaves them. docs/papers.md is made of the record, and a test that has the data computes every value
again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dialeval.errors import UserError
from dialeval.papers.from_data import values_from_data
from dialeval.papers.from_rows import values_from_rows
from dialeval.papers.printed import RECORD, write_record


def main(arguments: Sequence[str] | None = None, record: Path = RECORD) -> None:
    """Computes all values, writes the record and says how many come out.

    Raises:
        UserError: the folder has no data of the papers, or a file of them is not as published.
    """
    parser = argparse.ArgumentParser(description="Writes down which printed values of the papers come out.")
    parser.add_argument("folder", type=Path, metavar="DATA_DIR", help="where the public data are")
    values = [*values_from_data(parser.parse_args(arguments).folder), *values_from_rows()]
    write_record(values, record)
    for row in (value.as_row() for value in values if not value.is_equal):
        why = f" ({row['why']})" if row["why"] else ""
        print(f"{row['paper']}, {row['item']}, {row['what']}: printed {row['printed']}, here {row['ours']}{why}")
    print(f"{sum(value.is_equal for value in values)} of {len(values)} printed values come out; all are in {record}")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
