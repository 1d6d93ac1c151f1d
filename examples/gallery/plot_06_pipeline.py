"""
Text and categories in a pipeline
=================================

Estimators encode text, categories and dates by themselves, as `goodprior fit` does. Where you want
another encoding, a `ColumnTransformer` makes numbers of columns and fills gaps, and
cross-validation sees all of it as one estimator.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from goodprior import BNNRegressor

# %%
# Flats with an area (sometimes missing), a district, and a line of text.

rng = np.random.default_rng(4)
rows = 200
district = rng.choice(["harbour", "hill", "centre"], rows)
words = np.array(["balcony", "garden", "lift", "noisy", "renovated"])
worth = np.array([60.0, 120.0, 30.0, -90.0, 100.0])
has = rng.random((rows, len(words))) < 0.4
area = rng.uniform(25, 120, rows)
base = {"harbour": 200.0, "hill": 350.0, "centre": 300.0}
rent = 9 * area + has @ worth + np.array([base[d] for d in district]) + rng.normal(0, 40, rows)
flats = pd.DataFrame(
    {
        "area": np.where(rng.random(rows) < 0.1, np.nan, area),
        "district": district,
        "text": [" ".join(["flat", *words[row]]) for row in has],
    }
)
print(flats.head())

# %%
# The regressor is the last step. Everything before it is fitted to the training rows only, as
# `cross_val_score(pipeline, flats, rent)` would do in each fold.

encode = ColumnTransformer(
    [
        ("numbers", SimpleImputer(), ["area"]),
        ("categories", OneHotEncoder(sparse_output=False), ["district"]),
        ("text", make_pipeline(TfidfVectorizer(), TruncatedSVD(5, random_state=0)), "text"),
    ]
)
model = BNNRegressor(
    belief=["trend", "smooth"], likelihood="gaussian", chains=4, draws=25, random_state=0
)
pipeline = make_pipeline(encode, model)
train, test, rent_train, rent_test = train_test_split(flats, rent, test_size=60, random_state=0)
pipeline.fit(train, rent_train)
mean, std = pipeline.predict(test, return_std=True)
print(f"RMSE {np.sqrt(np.mean((mean - rent_test) ** 2)):.0f}, spread of rents {rent.std():.0f}")

# %%
# `predict` hands `return_std` to the last step. Other questions go to that step, with encoded rows.

low, high = pipeline[-1].predict_interval(pipeline[:-1].transform(test), 0.9)
inside = np.mean((low <= rent_test) & (rent_test <= high))
figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
ax.errorbar(
    mean,
    rent_test,
    xerr=[mean - low, high - mean],
    fmt="o",
    ms=4,
    lw=0.8,
    color="#009e73",
    label=f"new flats; {inside:.0%} within their 90 % interval",
)
ends = [rent.min(), rent.max()]
ax.plot(ends, ends, color="black", lw=0.8, label="as predicted")
ax.set(xlabel="predicted rent", ylabel="rent")
ax.legend()
plt.show()
