"""A headless Chromium, driven over its DevTools pipe with the standard library."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time
from pathlib import Path

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
PATIENCE = 300  # seconds for one answer; a loaded machine is slow, a hang is longer


class BrowserError(RuntimeError):
    """The browser did not answer, or answered with an error."""


def executable():
    """The path of a Chromium; None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


class Browser:
    """One page of one browser.

    Messages are JSON, each ended by a zero byte: the browser reads from its descriptor
    3 and writes to its descriptor 4.
    """

    def __init__(self, profile):
        """Start a browser that keeps its profile in a folder."""
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        # Far from 3 and 4, so that neither is overwritten while the two are set.
        high = [
            fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (theirs_in, theirs_out)
        ]
        actions = [
            (os.POSIX_SPAWN_DUP2, fd, at) for fd, at in zip(high, (3, 4), strict=True)
        ]
        log = os.open(Path(profile) / "log", os.O_WRONLY | os.O_CREAT)
        actions += [(os.POSIX_SPAWN_DUP2, log, 2)]
        path = executable()
        command = [path, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self._pid = os.posix_spawn(
            path, command, os.environ, file_actions=actions, setpgroup=0
        )
        for fd in (theirs_in, theirs_out, log, *high):
            os.close(fd)
        self._buffer, self._last, self.events = b"", 0, []
        targets = self._send("Target.getTargets", session=None)["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        attach = {"targetId": target, "flatten": True}
        self._session = None
        self._session = self._send("Target.attachToTarget", **attach)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._send(f"{domain}.enable")

    def close(self):
        """End the browser and its children."""
        with contextlib.suppress(BrowserError, OSError):
            self._send("Browser.close", session=None)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if os.waitpid(self._pid, os.WNOHANG)[0]:
                break
            time.sleep(0.05)
        else:
            os.killpg(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._to)
        os.close(self._from)

    def _send(self, method, session="own", **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session == "own" and self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._last:
                break
            self.events.append(answer)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        return answer["result"]

    _session = None

    def _read(self):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], PATIENCE)
            block = os.read(self._from, 1 << 20) if ready else b""
            if not block:
                raise BrowserError(f"no answer within {PATIENCE} s")
            self._buffer += block
        raw, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(raw)

    def open(self, address):
        """Load an address; the milliseconds until all of it was loaded."""
        self.events.clear()
        self._send("Page.navigate", url=str(address))
        self.wait("document.readyState == 'complete'")
        entry = "performance.getEntriesByType('navigation')[0]"
        return self.run(f"{entry}.loadEventStart")

    def run(self, script):
        """The value of an expression of JavaScript, promises awaited."""
        options = {"returnByValue": True, "awaitPromise": True}
        done = self._send("Runtime.evaluate", expression=script, **options)
        if "exceptionDetails" in done:
            raise BrowserError(json.dumps(done["exceptionDetails"])[:2000])
        return done["result"].get("value")

    def wait(self, condition, seconds=20):
        """Wait until an expression of JavaScript is true."""
        deadline = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > deadline:
                raise BrowserError(f"never became true: {condition}")
            time.sleep(0.03)

    def settle(self):
        """Wait until what was asked for is drawn."""
        twice = "requestAnimationFrame(() => requestAnimationFrame(done))"
        self.run(f"new Promise(done => setTimeout(() => {twice}, 160))")

    def resize(self, width, height, *, dark=False, scripts=True, scale=1):
        """Set the size of the window, the colour scheme, and whether scripts run."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale}
        mobile = width < 600
        self._send("Emulation.setDeviceMetricsOverride", mobile=mobile, **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", features=[scheme])
        self._send("Emulation.setScriptExecutionDisabled", value=not scripts)

    def press(self, key, text=""):
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            codes = {"Tab": 9, "Enter": 13, "Escape": 27}
            code = codes.get(key, 0)
            self._send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                **extra,
            )

    def type(self, text):
        """Type a text."""
        for letter in text:
            self.press(letter, letter)

    def click(self, selector):
        """Click with the mouse on the middle of an element."""
        quoted = json.dumps(selector)
        self.run(
            f"document.querySelector({quoted}).scrollIntoView({{block: 'center'}})"
        )
        self.settle()
        x, y = self.run(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
            f"(document.querySelector({quoted}).getClientRects()[0])"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._send(
                "Input.dispatchMouseEvent",
                type=kind, x=x, y=y, button="left", clickCount=1,
            )  # fmt: skip

    def screenshot(self, path):
        """Write what the window shows as a PNG."""
        data = self._send("Page.captureScreenshot")["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def pdf(self, path):
        """Print the page, A4, with the page's own margins."""
        options = {"preferCSSPageSize": True, "printBackground": True}
        data = self._send(
            "Page.printToPDF", paperWidth=8.27, paperHeight=11.69, **options
        )
        Path(path).write_bytes(base64.b64decode(data["data"]))

    def complaints(self):
        """Errors and warnings of the console, exceptions, and requests that failed."""
        self.run("0")  # what was sent before has arrived then
        found = []
        for event in self.events:
            params = event.get("params", {})
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    found.append(json.dumps(params["exceptionDetails"])[:500])
                case "Runtime.consoleAPICalled":
                    found.append(json.dumps(params["args"])[:500])
                case "Log.entryAdded":
                    found.append(params["entry"]["text"])
                case "Network.loadingFailed":
                    found.append(params["errorText"])
        return found

    def requests(self):
        """Addresses that were asked for, the page itself included."""
        self.run("0")
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]
