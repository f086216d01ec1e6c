"""Damaged and forged model files: refused or harmless, when loaded and when asked to predict.

Files are changed in every part, by someone who knows the format and puts the hashes right again:
entries of the description (swapped, pointed elsewhere, numbers made huge or negative), arrays
(values, shapes, types), texts of boosters (fields, numbers); and bytes flipped, cut, inserted.
Each file is loaded, and what loads predicts, in a child with limits. Harm is: a signal, more than
five seconds, more memory than 20 times the declared size and 200 MB, an error of load that is not
foldwise's own, a process started, a pickle read, a file removed, a socket opened. Damaged pickles
of joblib run the same course beside them.

``ratio`` is joblib's share of harmful files over foldwise's, one added to each.
"""

import argparse
import base64
import contextlib
import hashlib
import io
import json
import multiprocessing
import os
import pickle
import re
import resource
import signal
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

import foldwise
from foldwise.errors import FoldwiseError

SECONDS = 5
BATCH = 100
FORBIDDEN = {
    "os.exec", "os.fork", "os.posix_spawn", "os.remove", "os.rename", "os.spawn", "os.system",
    "pickle.find_class", "socket.connect", "subprocess.Popen",
}  # fmt: skip
JUNK = [None, True, -1, 0, 1, 2**31, 2**62, 10**30, 1e308, {"float": "nan"}, "", "os.system",
        "builtins.exec", "object", "function", "compiled", "../x", [], [0, 1]]  # fmt: skip
NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
NUMBERS = [b"0", b"-1", b"1", b"2", b"7", b"1000000", b"2147483647", b"-2147483648", b"1e308",
           b"nan", b"4294967295", b"9223372036854775807", b""]  # fmt: skip


def models() -> dict[str, tuple[Any, Any]]:
    """Return fitted models of every kind, each with rows to predict."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y, codes = X[:, 0] + np.sin(X[:, 1]), np.arange(90) % 3
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.array(list("xyz"))[codes])
    levels = np.column_stack([X[:, :3], codes])
    encoder = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    quick = {"verbose": -1, "n_estimators": 5, "n_jobs": 1, "min_child_samples": 5}
    plain = {
        "gradient boosting": GradientBoostingClassifier(n_estimators=3).fit(X, codes),
        "histograms": HistGradientBoostingClassifier(
            max_iter=2, categorical_features=[3], min_samples_leaf=5
        ).fit(levels, codes),
        "support vectors": SVC().fit(X, codes),
        "support regression": SVR().fit(X, y),
        "lightgbm": LGBMClassifier(**quick).fit(X, codes),
        "linear leaves": LGBMRegressor(**quick, linear_tree=True).fit(X, y),
        "gaussian process": GaussianProcessRegressor().fit(X[:30], y[:30]),
        "splines": make_pipeline(SplineTransformer(), Ridge()).fit(X, y),
        "net": MLPRegressor(hidden_layer_sizes=(5,), max_iter=5).fit(X, y),
        "rules": foldwise.RuleFitRegressor(n_estimators=10, random_state=0).fit(X, y),
        "isle": foldwise.ISLERegressor(n_estimators=10, random_state=0).fit(X, y),
        "bagging": foldwise.BaggingRegressor(n_estimators=5, random_state=0).fit(X, y),
        "boosting": foldwise.GradientBoostingRegressor(n_estimators=5).fit(X, y),
        "newton": foldwise.NewtonBoostingClassifier(n_estimators=5).fit(X, codes),
        "adaboost": foldwise.AdaBoostClassifier(n_estimators=5).fit(X, codes),
        "subsets": foldwise.BestSubsetRegressor().fit(X, y),
    }
    with contextlib.suppress(ImportError):
        from xgboost import XGBClassifier, XGBRegressor

        plain["xgboost"] = XGBClassifier(n_estimators=3, max_depth=3).fit(X, codes)
        plain["xgboost dart"] = XGBRegressor(n_estimators=3, booster="dart").fit(X, y)
    found = {name: (model, levels if name == "histograms" else X) for name, model in plain.items()}
    stack = foldwise.StackingRegressor(
        [
            ("ridge", Ridge()),
            ("tree", DecisionTreeRegressor(max_depth=3)),
            ("near", KNeighborsRegressor(algorithm="kd_tree")),
            ("gbm", LGBMRegressor(**quick)),
        ],
        "nnls",
        cv=3,
        random_state=0,
    ).fit(X, y)
    several = foldwise.StackingClassifier(
        [
            ("hot", make_pipeline(encoder, LogisticRegression())),
            ("forest", make_pipeline(encoder, RandomForestClassifier(3, max_depth=3))),
            ("sgd", make_pipeline(encoder, StandardScaler(with_mean=False), SGDClassifier())),
        ],
        cv=3,
        random_state=0,
    ).fit(frame, codes)
    auto = foldwise.AutoStackRegressor("fast", random_state=0).fit(frame, y)
    return found | {"stack": (stack, X), "classes": (several, frame), "auto": (auto, frame)}


def members_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a model file whose hashes are right for what is in it."""
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in members.items()
        if name != "manifest.json"
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**members, "manifest.json": json.dumps(manifest).encode()}.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def forged_description(members: dict[str, bytes], rng: np.random.Generator) -> None:
    """Change some places of the description, or point them at other entries."""
    document = json.loads(members["model.json"])
    entries = document["entries"]
    for _ in range(int(rng.integers(1, 4))):
        where = entries[int(rng.integers(len(entries)))]
        while isinstance(where[-1], list) and where[-1] and rng.random() < 0.7:
            inner = [part for part in where if isinstance(part, list) and part]
            where = inner[int(rng.integers(len(inner)))]
        place, kind = int(rng.integers(len(where))), rng.random()
        old = where[place]
        if kind < 0.3:
            where[place] = {"at": int(rng.integers(len(entries)))}
        elif kind < 0.5 and isinstance(old, int | float):
            where[place] = [old + 1, old - 1, -old, old * 1000][int(rng.integers(4))]
        elif kind < 0.6 and isinstance(old, str):
            where[place] = small_array(old, rng)
        elif kind < 0.7:
            del where[place]
        else:
            where[place] = JUNK[int(rng.integers(len(JUNK)))]
        if not where:
            break
    members["model.json"] = json.dumps(document).encode()


def small_array(text: str, rng: np.random.Generator) -> str:
    """Return other numbers where an array stands in the description; else another word."""
    try:
        return base64.b64encode(forged_array(base64.b64decode(text, validate=True), rng)).decode()
    except Exception:
        return text[::-1]


def forged_array(content: bytes, rng: np.random.Generator) -> bytes:
    """Return an array with other values, another shape or another type."""
    array = np.load(io.BytesIO(content), allow_pickle=False)
    flat = array.reshape(-1).copy()
    kind = int(rng.integers(4))
    if kind == 0 and flat.size and flat.dtype.kind in "iuf":
        flat[int(rng.integers(flat.size))] = rng.choice([-1, 0, 1, 7, 99])
        array = flat.reshape(array.shape)
    elif kind == 1:
        array = flat[: int(rng.integers(flat.size + 1))]
    elif kind == 2 and flat.dtype.names is None and flat.dtype.kind in "iuf":
        array = array.astype(rng.choice(["f4", "i8", "u1", "c16", "f8"]))
    else:
        raw = bytearray(content)
        raw[-1 - int(rng.integers(min(len(raw) - 10, 400)))] ^= int(rng.integers(1, 256))
        return bytes(raw)
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def forged_text(content: bytes, rng: np.random.Generator) -> bytes:
    """Return a booster's text with numbers or whole fields changed."""
    places = list(NUMBER.finditer(content))
    for _ in range(int(rng.integers(1, 3))):
        found = places[int(rng.integers(len(places)))]
        new = NUMBERS[int(rng.integers(len(NUMBERS)))]
        content = content[: found.start()] + new + content[found.end() :]
        places = list(NUMBER.finditer(content))
    if rng.random() < 0.2:
        lines = content.split(b"\n")
        del lines[int(rng.integers(len(lines)))]
        content = b"\n".join(lines)
    return content


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
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


def forged(content: bytes, seed: int) -> bytes:
    """Return a file changed in one of its parts."""
    rng = np.random.default_rng(seed)
    if rng.random() < 0.1:
        return damaged(content, rng)
    members = members_of(content)
    names = [name for name in members if name != "manifest.json"]
    chosen = names[int(rng.integers(len(names)))] if rng.random() < 0.5 else "model.json"
    if chosen == "model.json":
        forged_description(members, rng)
    elif chosen.endswith(".npy"):
        members[chosen] = forged_array(members[chosen], rng)
    else:
        members[chosen] = forged_text(members[chosen], rng)
    return zipped(members)


def outcome(load: Callable[[Path], Any], path: Path, X: Any, own: Any) -> str:
    """Load a file and predict; say what came of it. An error of predict does no harm."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = load(path)
        except own:
            return "refused"
        except MemoryError:
            return "HARM: memory"
        except Exception as error:
            return f"HARM: load raised {type(error).__name__}"
        try:
            model.predict(X)
        except MemoryError:
            return "HARM: memory"
        except Exception:
            return "loaded, predict raised"
    return "loaded and predicted"


def child(path: Path, content: bytes, X: Any, seeds: range, told: Any, ours: bool) -> None:
    """Go through some files; the parent hears of each before and after."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    seen: list[str] = []
    watching = False
    sys.addaudithook(lambda event, _: seen.append(event) if watching and event in FORBIDDEN else 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for seed in seeds:
        bad = forged(content, seed) if ours else damaged(content, np.random.default_rng(seed))
        path.write_bytes(bad)
        declared = len(bad)
        with contextlib.suppress(Exception), zipfile.ZipFile(io.BytesIO(bad)) as archive:
            declared = sum(info.file_size for info in archive.infolist())
        told.send(("begun", seed))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + 20 * declared + 200 * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        signal.alarm(SECONDS)
        begin, watching = time.perf_counter(), ours
        read, own = (foldwise.load, FoldwiseError) if ours else (joblib.load, Exception)
        what = outcome(read, path, X, own)
        watching = False
        signal.alarm(0)
        if seen:
            what = f"HARM: {seen[0]}"
            seen.clear()
        told.send(("done", what, time.perf_counter() - begin))


def gone_through(content: bytes, X: Any, seeds: range, ours: bool) -> tuple[Counter[str], list]:
    """Return what came of each file, and the harmful seeds; a dead child is replaced."""
    found: Counter[str] = Counter()
    harm: list[tuple[int, str]] = []
    start = seeds.start
    fork = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        while start < seeds.stop:
            part = range(start, min(start + BATCH, seeds.stop))
            mine, theirs = fork.Pipe()
            path = Path(folder) / "model"
            worker = fork.Process(target=child, args=(path, content, X, part, theirs, ours))
            worker.start()
            theirs.close()
            seed = start
            with contextlib.suppress(EOFError):
                while seed < part.stop:
                    kind, *rest = mine.recv()
                    if kind == "done":
                        found[rest[0]] += 1
                        if rest[0].startswith("HARM"):
                            harm.append((seed, rest[0]))
                        seed += 1
            worker.join()
            if seed < part.stop:
                code = -(worker.exitcode or 0)
                what = "HARM: over 5 s" if code == signal.SIGALRM else f"HARM: signal {code}"
                found[what] += 1
                harm.append((seed, what))
                seed += 1
            start = seed
    return found, harm


def main(n: int, first: int, only: str | None) -> None:
    total: Counter[str] = Counter()
    kinds = {k: v for k, v in models().items() if only in (None, k)}
    each = -(-n // len(kinds))
    for name, (model, X) in kinds.items():
        with tempfile.TemporaryDirectory() as folder:
            foldwise.save(model, Path(folder) / "model")
            content = (Path(folder) / "model").read_bytes()
        found, harm = gone_through(content, X, range(first, first + each), ours=True)
        total.update(found)
        print(f"{name:20s}", ", ".join(f"{k} {v}" for k, v in sorted(found.items())), flush=True)
        for seed, what in harm[:5]:
            print(f"    seed {seed}: {what}", flush=True)
    ours = sum(v for k, v in total.items() if k.startswith("HARM"))
    print(f"{'all':20s}", ", ".join(f"{k} {v}" for k, v in sorted(total.items())))
    print(f"files that do harm: foldwise {ours} of {total.total()}", flush=True)
    model, X = kinds.get("stack") or next(iter(kinds.values()))
    peers, _ = gone_through(pickle.dumps(model), X, range(min(n, 400)), ours=False)
    theirs = sum(v for k, v in peers.items() if k.startswith("HARM"))
    print(f"files that do harm: joblib {theirs} of {peers.total()}, by signal, time or memory")
    share = (theirs + 1) / (peers.total() + 1) / ((ours + 1) / (total.total() + 1))
    print(f"ratio: {share:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--quick", action="store_true", help="1,000 files")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--only", help="one kind of model")
    given = parser.parse_args()
    main(1_000 if given.quick else given.files, given.first, given.only)
