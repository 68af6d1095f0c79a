"""A real browser without a window, driven through a pair of pipes with nothing but the standard library."""

from __future__ import annotations

import atexit
import base64
import fcntl
import importlib.util
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, Self

PROGRAM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
AXE = next(
    (
        path
        for spec in [importlib.util.find_spec("axe_core_python")]
        if spec is not None and spec.origin is not None and (path := Path(spec.origin).with_name("axe.min.js")).exists()
    ),
    None,
)
"""The accessibility checker; None where it is not installed."""
_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
)  # fmt: skip
_READ_END, _WRITE_END = 3, 4  # where the browser looks for its pipes
_PATIENCE = 60.0  # seconds
_KEYS = {
    "Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), " ": (32, " "), "?": (191, "?"),
    "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, ""),
}  # fmt: skip
"""Codes and texts of keys that are no letter or digit."""
_GONE = ("target navigated or closed", "context was destroyed", "Cannot find context", "Cannot find default execution")
"""What the browser says where the page that was asked was left before it answered."""


class _PageGone(Exception):
    """The page that was asked was left before it answered."""


class _Program:
    """The browser's process, and the pair of pipes to it."""

    def __init__(self) -> None:
        assert PROGRAM is not None
        self._number = 0
        self._unread = b""
        self._profile = tempfile.TemporaryDirectory(prefix="profile-", ignore_cleanup_errors=True)
        commands, self._commands = (_high(end) for end in os.pipe())
        self._answers, answers = (_high(end) for end in os.pipe())

        def connect() -> None:
            os.dup2(commands, _READ_END)
            os.dup2(answers, _WRITE_END)

        self._process = subprocess.Popen(
            [PROGRAM, *_OPTIONS, f"--user-data-dir={self._profile.name}", "about:blank"],
            pass_fds=(_READ_END, _WRITE_END),
            preexec_fn=connect,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)

    def send(self, method: str, parameters: dict[str, Any], session: str | None) -> int:
        """Send a command and return its number."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        return self._number

    def receive(self) -> dict[str, Any]:
        """Return the next answer or event."""
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._answers], [], [], _PATIENCE)
            chunk = os.read(self._answers, 1 << 20) if ready else b""
            assert chunk, "the browser says nothing more"
            self._unread += chunk
        message, _, self._unread = self._unread.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        os.close(self._commands)
        os.close(self._answers)
        self._profile.cleanup()


@cache
def _program() -> _Program:
    """The one process that all browsers of this process share; it ends with it."""
    program = _Program()
    atexit.register(program.end)
    return program


class Browser:
    """One page of a browser that never saw any page; use as a context manager.

    Args:
        downloads: folder that files are saved in; without one none are.
    """

    def __init__(self, downloads: Path | None = None) -> None:
        self._downloads = downloads
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        self._context = self.command("Target.createBrowserContext")["browserContextId"]
        if self._downloads is not None:
            self.command(
                "Browser.setDownloadBehavior",
                behavior="allow",
                downloadPath=str(self._downloads),
                browserContextId=self._context,
            )
        target = self.command("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.command(f"{domain}.enable")
        self.command("Emulation.setFocusEmulationEnabled", enabled=True)
        return self

    def __exit__(self, *error: object) -> None:
        self._session = None
        self.command("Target.disposeBrowserContext", browserContextId=self._context)

    def command(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol and return its result; events meanwhile are kept."""
        program = _program()
        number = program.send(method, parameters, self._session)
        while (answer := program.receive()).get("id") != number:
            if answer.get("sessionId") != self._session:
                continue
            self.events.append(answer)
            if answer.get("method") == "Page.javascriptDialogOpening":  # nothing else is answered before this is
                program.send("Page.handleJavaScriptDialog", {"accept": True}, self._session)
        if any(words in answer.get("error", {}).get("message", "") for words in _GONE):
            raise _PageGone(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, address: str, *, until: str) -> None:
        """Goes to an address and waits until an expression is true there."""
        self.command("Page.navigate", url="about:blank")
        self.events.clear()
        self.command("Page.navigate", url=address)
        self.wait(until)

    def wait(self, until: str) -> None:
        """Wait until an expression is true; a page that goes away while it is asked has not answered yet."""
        deadline = time.monotonic() + _PATIENCE
        while not self._is_true(until):
            assert time.monotonic() < deadline, f"not true within {_PATIENCE} s: {until}"
            time.sleep(0.02)

    def _is_true(self, expression: str) -> bool:
        try:
            return bool(self.evaluate(f"Boolean({expression})"))
        except _PageGone:
            return False

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements that a selector finds."""
        found: list[str] = self.evaluate(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")
        return found

    def choose(self, control: str, option: str) -> None:
        """Pick the option of a control, by its text or value, and lets the page know."""
        self.evaluate(
            f"(() => {{ const s = document.getElementById({control!r});"
            f"s.value = [...s.options].find(o => [o.textContent, o.value].includes({option!r})).value;"
            "s.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )

    def press(self, *keys: str) -> None:
        """Presses and releases keys, as a person does: a character, or a name such as Tab or ArrowUp."""
        for key in keys:
            code, text = _KEYS.get(key) or (ord(key.upper()) if key.isalnum() else 0, key)
            common = {"key": key, "windowsVirtualKeyCode": code}
            self.command("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
            self.command("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, selector: str) -> None:
        """Clicks in the middle of the first element that a selector finds, wherever the page then is."""
        self.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
        x, y = self.evaluate(
            f"(() => {{ const box = document.querySelector({selector!r}).getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def wait_for_file(self, path: Path) -> None:
        """Wait until a file was saved; the browser makes it empty before it writes it."""
        deadline = time.monotonic() + _PATIENCE
        while not path.exists() or not path.stat().st_size:
            assert time.monotonic() < deadline, f"not saved within {_PATIENCE} s: {path}"
            self.evaluate("0")
            time.sleep(0.02)

    def barriers(self, *, colours_alone: bool = False) -> list[str]:
        """Return what axe finds that would keep people out, as the page now stands; AXE must not be None.

        With `colours_alone` only contrast is checked: for a page that differs in its colours from one that was checked.
        """
        assert AXE is not None
        if not self.evaluate("'axe' in window"):
            self.evaluate(f"{AXE.read_text(encoding='utf-8')}; 0")
        options = "{runOnly: ['color-contrast']}" if colours_alone else "{}"
        found = self.evaluate(
            f"axe.run({options})"
            ".then(({passes, violations}) => ({passed: passes.length, violations: violations.flatMap("
            "({id, nodes}) => nodes.map(({html}) => `${id}: ${html}`))}))"
        )
        assert found["passed"], "axe looked at nothing"
        violations: list[str] = found["violations"]
        return violations

    def asked_to_stay(self) -> bool:
        """Return whether since `open` the page had the browser ask before it was left."""
        return any(event.get("method") == "Page.javascriptDialogOpening" for event in self.events)

    def requested(self) -> list[str]:
        """Return the addresses that the page asked for since `open`."""
        sent = [event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def complaints(self) -> list[str]:
        """Return errors and warnings since `open`: uncaught ones, and what the content policy refused."""
        entries = [event["params"]["entry"] for event in self.events if event.get("method") == "Log.entryAdded"]
        thrown = [event["params"] for event in self.events if event.get("method") == "Runtime.exceptionThrown"]
        return [entry["text"] for entry in entries] + [json.dumps(event) for event in thrown]

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """Set the size of the window and the preferred colours."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.command("Emulation.setTouchEmulationEnabled", enabled=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """Write what is in the window as PNG."""
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot", format="png")["data"]))


def _high(end: int) -> int:
    """Move an end of a pipe out of the way of the places that the browser wants."""
    moved = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(end)
    return moved
