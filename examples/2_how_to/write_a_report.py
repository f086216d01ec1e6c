"""Write a report
==============

One HTML file to send to a colleague, with nothing to install or to load.

Run with ``--save report.html`` to keep it; without, it is written to a temporary folder.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_diabetes
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from foldwise import StackingRegressor, write_report

parser = argparse.ArgumentParser()
parser.add_argument("--save", help="where to keep the report")
save = parser.parse_args().save

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, random_state=0)
stack = StackingRegressor(
    [
        ("ridge", make_pipeline(StandardScaler(), Ridge(10.0))),
        ("neighbours", make_pipeline(StandardScaler(), KNeighborsRegressor(20))),
        ("trees", ExtraTreesRegressor(60, min_samples_leaf=5)),
    ],
    random_state=0,
).fit(X, y)

with TemporaryDirectory() as folder:
    # The score needs no new rows. Given some, the report asks them which columns matter.
    path = write_report(
        stack, save or Path(folder) / "report.html", X_new, y_new, title="Progress of diabetes"
    )
    text = path.read_text(encoding="utf-8")

print(f"Honest RMSE of the stack: {-stack.score_:.1f} ± {stack.score_se_:.1f}")
print(f"The report has {len(text.encode()) / 1000:.0f} kB and {text.count('<svg')} figures.")
# sphinx_gallery_thumbnail_path = 'generated/static/report_thumb.svg'  # noqa: ERA001
