"""A headless Chromium, spoken to through a pipe: no driver and no package needed."""

import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
    "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 300.0


def chromium() -> str | None:
    """Return where Chromium is, None if it is not installed."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page of a headless browser."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[dict[str, Any]] = []
        self._number = 0
        self._left = b""

    def __enter__(self) -> Self:
        down, self._out = os.pipe()
        self._in, up = os.pipe()
        # Chromium reads commands from 3 and answers on 4; the shell puts them there.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 50) for end in (down, up)]
        os.close(down)
        os.close(up)
        command = [str(chromium()), *FLAGS, f"--user-data-dir={self.folder / 'profile'}"]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{high[0]} 4>&{high[1]}', *command, "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=high,
        )
        for end in high:
            os.close(end)
        os.set_blocking(self._in, False)
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Log", "Runtime", "Network"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._out)
        os.close(self._in)

    _session: str | None = None

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result; what happens meanwhile is kept in `events`."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            for answer in self._read():
                if answer.get("id") == self._number:
                    assert "error" not in answer, answer
                    return dict(answer["result"])
        raise TimeoutError(method)

    def _read(self) -> list[dict[str, Any]]:
        try:
            read = os.read(self._in, 1 << 20)
        except BlockingIOError:
            time.sleep(0.005)
            return []
        assert read, "the browser is gone"
        *whole, self._left = (self._left + read).split(b"\0")
        answers = [json.loads(part) for part in whole]
        self.events += [answer for answer in answers if "method" in answer]
        return answers

    def open(self, path: Path, *, width: int, scheme: str = "light", media: str = "screen") -> None:
        """Open a file and wait until it is loaded."""
        self.events.clear()
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=media, features=features)
        self.send("Page.navigate", url=path.as_uri())
        until = time.monotonic() + PATIENCE
        while "Page.loadEventFired" not in [e["method"] for e in self.events]:
            assert time.monotonic() < until
            self._read()

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def complaints(self) -> list[str]:
        """Return what the page logged, errors and console messages alike."""
        told = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        return [json.dumps(e["params"]) for e in self.events if e["method"] in told]

    def requests(self) -> list[str]:
        """Return the addresses the page asked for."""
        return [
            str(event["params"]["request"]["url"])
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]
