"""Damaged and forged model files: refused or right, never run; joblib's beside them.

2,000 files with bytes flipped, cut, inserted, zeroed or doubled are loaded by foldwise (and 400
by joblib, whose files are pickles), and 2,000 whose descriptions were changed by an enemy who put
the hashes right again. Counted are files that load and predict something else, that kill or
hang the process, that raise something other than foldwise's own error, and whatever
starts a process, reads a pickle, removes a file or opens a socket while foldwise loads.
"""

import argparse
import hashlib
import io
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import joblib
import numpy as np
from lightgbm import LGBMRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingRegressor, load, save
from foldwise.errors import FoldwiseError

FORBIDDEN = {
    "os.exec", "os.fork", "os.posix_spawn", "os.remove", "os.rename", "os.spawn", "os.system",
    "pickle.find_class", "socket.connect", "subprocess.Popen",
}  # fmt: skip
JUNK = [None, -1, 10**30, float("nan"), "", "os.system", "builtins.exec", "object", "function",
        "part", "../x", [], {"at": 0}, {"at": 7}, {"at": -1}, {"at": 10**6}]  # fmt: skip
events: Counter[str] = Counter()
watching = False


def damaged(content: bytes, seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    new, place = bytearray(content), int(rng.integers(len(content)))
    kind = rng.integers(5)
    if kind == 0:
        new[place] ^= int(rng.integers(1, 256))
    elif kind == 1:
        del new[place : place + int(rng.integers(1, 1000))]
    elif kind == 2:
        new[place:place] = rng.bytes(int(rng.integers(1, 50)))
    elif kind == 3:
        new[place : place + 16] = bytes(min(16, len(new) - place))
    else:
        new[place:place] = new[place : place + 200]
    return bytes(new)


def forged(members: dict[str, bytes], seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    document = json.loads(members["model.json"])
    for _ in range(int(rng.integers(1, 4))):
        where = document["entries"][int(rng.integers(len(document["entries"])))]
        while isinstance(where[-1], list) and where[-1] and rng.random() < 0.5:
            where = where[-1]
        where[int(rng.integers(len(where)))] = JUNK[int(rng.integers(len(JUNK)))]
    members = {**members, "model.json": json.dumps(document).encode()}
    manifest = json.loads(members["manifest.json"])
    for name, entry in manifest["members"].items():
        entry["size"] = len(members[name])
        entry["sha256"] = hashlib.sha256(members[name]).hexdigest()
    members["manifest.json"] = json.dumps(manifest).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def hook(event: str, _: object) -> None:
    if watching and event in FORBIDDEN:
        events[event] += 1


def outcome(read, path: Path, X, right, own_error) -> str:
    """Say what came of loading a file: refused, right, wrong or another error."""
    signal.alarm(20)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = read(path)
            if right is None:
                return "loaded"
            same = np.array_equal(np.asarray(model.predict(X)), right)
        return "right" if same else "wrong"
    except own_error:
        return "refused"
    except TimeoutError:
        return "hung"
    except Exception:
        return "other error"
    finally:
        signal.alarm(0)


def late(*_: object) -> None:
    raise TimeoutError


def joblib_child(folder: Path, start: int, n: int) -> None:
    """Load damaged pickles one by one; a parent notices when this process dies."""
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    signal.signal(signal.SIGALRM, late)
    content = (folder / "model.joblib").read_bytes()
    X, right = np.load(folder / "X.npy"), np.load(folder / "right.npy")
    for seed in range(start, n):
        (folder / "bad.joblib").write_bytes(damaged(content, seed))
        print(outcome(joblib.load, folder / "bad.joblib", X, right, ()), flush=True)


def joblib_outcomes(folder: Path, n: int) -> Counter[str]:
    found: Counter[str] = Counter()
    while found.total() < n:
        command = [sys.executable, __file__, "--child", str(folder), str(found.total()), str(n)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        found.update(run.stdout.split("\n")[:-1])
        if found.total() < n:
            found["killed the process"] += 1
    return found


def show(results: dict[str, Counter[str]]) -> None:
    for kind, counts in results.items():
        print(f"{kind:16s}", ", ".join(f"{k} {v}" for k, v in sorted(counts.items())), flush=True)


def main(n: int) -> None:
    global watching
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = X[:, 0] + np.sin(X[:, 1])
    learners = [
        ("ridge", Ridge()),
        ("tree", DecisionTreeRegressor(max_depth=3)),
        ("near", KNeighborsRegressor(algorithm="kd_tree")),
        ("gbm", LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1)),
    ]
    stack = StackingRegressor(learners, "nnls", cv=3, random_state=0).fit(X, y)
    right = stack.predict(X)
    signal.signal(signal.SIGALRM, late)
    sys.addaudithook(hook)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(stack, folder / "model")
        joblib.dump(stack, folder / "model.joblib")
        np.save(folder / "X.npy", X)
        np.save(folder / "right.npy", right)
        content = (folder / "model").read_bytes()
        with zipfile.ZipFile(folder / "model") as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        results: dict[str, Counter[str]] = {"damaged": Counter(), "forged": Counter()}
        slowest = 0.0
        for seed in range(n):
            for kind, bad in (
                ("damaged", damaged(content, seed)),
                ("forged", forged(members, seed)),
            ):
                (folder / "bad").write_bytes(bad)
                watching, begin = True, time.perf_counter()
                wanted = right if kind == "damaged" else None
                results[kind][outcome(load, folder / "bad", X, wanted, FoldwiseError)] += 1
                watching, slowest = False, max(slowest, time.perf_counter() - begin)
        show(results)
        print(f"slowest load {slowest:.2f} s; forbidden events {dict(events)}", flush=True)
        peers = min(n, 400)
        results["damaged, joblib"] = joblib_outcomes(folder, peers)
    show({"damaged, joblib": results["damaged, joblib"]})
    bad_kinds = ("wrong", "hung", "killed the process")
    ours = sum(results["damaged"][k] for k in bad_kinds)
    theirs = sum(results["damaged, joblib"][k] for k in bad_kinds)
    ours += results["damaged"]["other error"] + results["forged"]["other error"]
    ours += results["forged"]["hung"] + events.total()
    print(f"files that do harm: foldwise {ours} of {2 * n}, joblib {theirs} of {peers}")
    print(f"ratio: {(theirs + 1) / (peers + 1) / ((ours + 1) / (2 * n + 1)):.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="200 files of each kind")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        joblib_child(Path(given.child[0]), int(given.child[1]), int(given.child[2]))
    else:
        main(200 if given.quick else 2000)
