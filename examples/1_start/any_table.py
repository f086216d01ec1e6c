"""A table of any columns in, a good stack with an honest score out
================================================================
"""

import argparse

import numpy as np
import pandas as pd

from foldwise import AutoStackRegressor

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="write the picture to this file")
save = parser.parse_args().save

rng = np.random.default_rng(0)
n = 400
table = pd.DataFrame(
    {
        "size": rng.normal(100, 30, n).clip(20),
        "town": rng.choice(["Bonn", "Rome", "Oslo"], n),
        "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
        "garden": rng.random(n) < 0.5,
    }
)
worth = table["town"].map({"Bonn": 0.0, "Rome": 0.4, "Oslo": 0.8})
price = np.exp(0.01 * table["size"] + worth + 0.2 * table["garden"] + rng.normal(0, 0.2, n))
table.loc[rng.random(n) < 0.1, "size"] = np.nan

model = AutoStackRegressor("fast", random_state=0).fit(table[:300], price[:300])

print(model.kinds_)
print(f"\nHonest RMSE {-model.score_:.2f} ± {model.score_se_:.2f}")
print(f"On new rows {np.sqrt(np.mean((model.predict(table[300:]) - price[300:]) ** 2)):.2f}\n")
print(model.leaderboard_[["model", "root_mean_squared_error", "weight"]].round(2).to_string())
lower, upper = model.predict_interval(table[300:], 0.9)
print(f"\n90 % intervals hold {((lower <= price[300:]) & (price[300:] <= upper)).mean():.0%}")

readable = AutoStackRegressor("fast", interpretable=True, random_state=0)
readable.fit(table[:300], price[:300])
print(f"\nOne readable model: RMSE {-readable.score_:.2f} ± {readable.score_se_:.2f}")

if save:
    import matplotlib.pyplot as plt

    truth, predicted = price[300:], model.predict(table[300:])
    inside = (lower <= truth) & (truth <= upper)
    figure, ax = plt.subplots(figsize=(5.6, 4), layout="constrained")
    ax.axline((0, 0), slope=1, color="0.7", linewidth=1)
    for held, colour, words in ((inside, "#2b6cb0", "holds"), (~inside, "#c05621", "misses")):
        ends = np.abs(np.stack([lower, upper]) - predicted)[:, held]
        label = f"interval {words} the price: {held.sum()}"
        ax.errorbar(
            truth[held], predicted[held], ends, fmt="o", color=colour, ms=3, lw=0.7, label=label
        )
    ax.set(xlabel="price", ylabel="predicted, with its 90 % interval", title="100 new rows")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(save, dpi=120)
