"""Makes the README's screenshots of the report anew, from a finished default run; needs Chromium.

python docs/images/screenshots.py results
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
sys.path.append(str(HERE.parents[1] / "tests" / "support"))
from report_browser import PROGRAM, Browser  # noqa: E402

SHOTS = {
    "report_leaderboard": ("botchat", "document.querySelector('#botchat table')", 1280, 880, 0),
    "report_dialogue": (
        "cases=dialogues&of=selfchat&case=en-012&protocol=arena/16&models=retrieval,ngram",
        "document.querySelectorAll('.verdicts').length > 1",
        1280,
        1000,
        980,
    ),
}
"""File -> the address in the page, what is to be there, the window's width and height, and how far to scroll on."""
COLOURS = 64


def main(results: Path) -> int:
    """Take every shot, and say how large each file is."""
    page = results.resolve() / "report" / "index.html"
    if PROGRAM is None or not page.exists():
        print(f"needs Chromium and {page}", file=sys.stderr)
        return 1
    with Browser() as browser, tempfile.TemporaryDirectory() as folder:
        for name, (address, there, width, height, further) in SHOTS.items():
            browser.look(width, height)
            browser.open(f"{page.as_uri()}#{address}", until=there)
            browser.command("Emulation.setScrollbarsHidden", hidden=True)
            browser.evaluate("new Promise(done => setTimeout(done, 1000))")  # scrolling has ended
            browser.evaluate("document.activeElement.blur()")
            browser.evaluate(f"scrollBy(0, {further})")
            browser.picture(Path(folder) / "shot.png")
            few = Image.open(Path(folder) / "shot.png").convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            few.save(HERE / f"{name}.png", optimize=True)
            print(f"{name}.png: {(HERE / f'{name}.png').stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, help="the results of the default run")
    sys.exit(main(parser.parse_args().results))
