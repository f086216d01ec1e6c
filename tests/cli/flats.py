"""The recipe of the table that `foldwise demo` uses: rents of flats that do not exist."""

import numpy as np
import pandas as pd

DISTRICTS = {
    "Harbour": 1.30,
    "Old Town": 1.25,
    "Hillside": 1.15,
    "Riverside": 1.10,
    "University": 1.05,
    "Station": 0.95,
    "Garden City": 0.92,
    "Mills": 0.85,
    "Northgate": 0.80,
    "Airport": 0.72,
}
PHRASES = {
    "freshly renovated": 90,
    "new kitchen": 45,
    "quiet courtyard": 30,
    "view over the river": 80,
    "needs some work": -110,
    "busy street": -60,
    "close to the tram": 15,
    "high ceilings": 40,
    "shared garden": 20,
    "small bathroom": -25,
    "bright rooms": 25,
    "cellar included": 10,
}
HEATING = {"district": 0.0, "gas": 10.0, "heat pump": 55.0, "oil": -35.0}


def make_flats(n: int = 800, seed: int = 8) -> pd.DataFrame:
    """Rents of a smooth part, which lines see best, and of steps that trees see best.

    So a mix of both beats either: a table on which stacking pays.
    """
    rng = np.random.default_rng(seed)
    size = np.round(rng.uniform(24, 125, n), 1)
    rooms = np.clip(np.round(size / 26 + rng.normal(0, 0.5, n)), 1, 5).astype(int)
    built = rng.integers(1890, 2024, n).astype(float)
    district = rng.choice(list(DISTRICTS), n)
    heating = rng.choice(list(HEATING), n, p=[0.35, 0.4, 0.15, 0.1])
    floor = rng.integers(0, 9, n)
    lift = rng.random(n) < 0.15 + 0.07 * floor
    balcony = rng.random(n) < 0.5
    listed = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 730, n), "D")
    words = [rng.choice(list(PHRASES), rng.integers(2, 5), replace=False) for _ in range(n)]
    smooth = (
        9.0 * size
        + 700.0 * np.array([DISTRICTS[d] for d in district])
        + np.array([HEATING[h] for h in heating])
        + 1.4 * np.array([sum(PHRASES[w] for w in row) for row in words])
        + 4.0 * (listed - pd.Timestamp("2023-01-01")).days / 30.4
    )
    steps = (
        np.where((floor >= 4) & lift & balcony, 210.0, 0.0)
        - np.where((floor >= 3) & ~lift, 180.0, 0.0)
        - np.where(np.isin(heating, ["oil", "gas"]) & (built < 1980), 170.0, 0.0)
        + np.where((district == "University") & (size < 60), 300.0, 0.0)
        + np.where(np.isin(district, ["Harbour", "Riverside"]) & (floor > 3), 280.0, 0.0)
    )
    rent = np.round(smooth + steps + rng.normal(0, 45, n), 0)
    built[rng.random(n) < 0.12] = np.nan
    return pd.DataFrame(
        {
            "listing_id": rng.permutation(n) + 40_000,
            "size_m2": size,
            "rooms": rooms,
            "built": built,
            "district": district,
            "floor": floor,
            "lift": np.where(lift, "yes", "no"),
            "balcony": np.where(balcony, "yes", "no"),
            "heating": np.where(rng.random(n) < 0.08, "", heating),
            "listed": listed.strftime("%Y-%m-%d"),
            "description": [", ".join(row) for row in words],
            "currency": "EUR",
            "rent": rent,
        }
    )
