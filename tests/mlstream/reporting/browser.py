"""A headless Chromium driven by its DevTools protocol over a pipe: no further package is needed."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
TIMEOUT_S = 60
SETTLE = """async element => {
  const box = () => (at => [at.x, at.y, at.width, at.height])(element.getBoundingClientRect());
  const frame = () => new Promise(requestAnimationFrame);
  for (;;) {
    element.scrollIntoView({block: "center", behavior: "instant"});
    const before = box();
    await frame();
    await frame();
    if (box().join() === before.join()) return before;
  }
}"""


def find_chromium() -> str | None:
    """Give the path of a Chromium, if there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page of one browser.

    ``problems`` collects exceptions, console errors and refused loads; ``requests`` every address asked for.
    """

    def __init__(self, chromium: str, profile: Path) -> None:
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.shown: dict[str, object] = {}
        self._last_id = 0
        self._buffer = b""
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        commands_out, self._commands = os.pipe()
        self._answers, answers_in = os.pipe()
        start = f'exec 3<&{commands_out} 4>&{answers_in}; exec "$0" "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", start, chromium, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(commands_out, answers_in),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands_out)
        os.close(answers_in)
        self._session: str | None = None
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._commands)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._answers)

    def send(self, method: str, **parameters: object) -> dict:
        """Send a command and wait for its answer."""
        self._last_id += 1
        command: dict[str, object] = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self._receive()
            if message.get("id") == self._last_id:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def open(
        self, page: Path | str, *, width: int = 1400, height: int = 900, dark: bool = False, touch: bool = False
    ) -> None:
        """Open a page, a file or an address, and wait until it has loaded."""
        self.problems.clear()
        self.requests.clear()
        self.shown = {"page": page, "width": width, "dark": dark, "touch": touch}
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", features=scheme)
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.send("Emulation.setTouchEmulationEnabled", enabled=touch)
        self.send("Page.navigate", url=page if isinstance(page, str) else page.resolve().as_uri())
        self.wait_until("document.readyState === 'complete'")

    def run(self, script: str) -> object:
        """Give the value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_until(self, condition: str) -> None:
        """Wait until an expression is true."""
        _wait(lambda: self.run(condition) is True, condition)

    def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release a key."""
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def point(self, selector: str, at: tuple[float, float] = (0.5, 0.5)) -> tuple[float, float]:
        """Scroll to an element that stands still and move the mouse to it; `at`: shares of its width and height."""
        left, top, width, height = self._settle(selector)
        x, y = left + at[0] * width, top + at[1] * height
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x - 5, y=y)
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector: str) -> None:
        """Click the middle of an element; again, where the page moved it away from under the mouse."""
        _wait(lambda: self._hits(selector), f"a click on {selector}")

    def _hits(self, selector: str) -> bool:
        hit = "() => window.wasHit = true, {capture: true, once: true}"
        self.run(f"window.wasHit = false; {_find(selector)}.addEventListener('click', {hit})")
        x, y = self.point(selector)
        if self.run(f"{_find(selector)}.contains(document.elementFromPoint({x}, {y}))"):
            for kind in ("mousePressed", "mouseReleased"):
                self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        return self.run("window.wasHit") is True

    def _settle(self, selector: str) -> list[float]:
        """Scroll to an element until it stays in one place, since charts that are drawn late push it on; its box."""
        return self.run(f"({SETTLE})({_find(selector)})")

    def screenshot(self, path: Path, *, whole: bool = True) -> Path:
        """Save a picture of the page."""
        answer = self.send(
            "Page.captureScreenshot", captureBeyondViewport=whole, **({"clip": self._whole()} if whole else {})
        )
        path.write_bytes(base64.b64decode(answer["data"]))
        return path

    def _whole(self) -> dict[str, float]:
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def _receive(self) -> dict:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], TIMEOUT_S)
            chunk = os.read(self._answers, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError(f"Chromium did not answer within {TIMEOUT_S} s, or ended.")
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, params: dict) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"][:200])
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])


def _find(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})"


def _wait(condition: Callable[[], bool], name: str) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name} did not come true within {TIMEOUT_S} s.")
        time.sleep(0.05)
