"""
What a model says of each column
================================

Which columns matter, over which length functions vary in them, and what the function is like along
each: computed for every posterior draw, so that the answers have error bars too.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from goodprior import BNNRegressor

rng = np.random.default_rng(4)
rows = 150
X = pd.DataFrame(
    {
        "dose": rng.uniform(0, 8, rows),
        "age": rng.uniform(20, 80, rows),
        "bed": rng.uniform(1, 40, rows),
    }
)
pressure = 120 + 8 * np.sin(1.2 * X["dose"]) + 0.15 * (X["age"] - 50)
y = pressure + rng.normal(0, 2, rows)

model = BNNRegressor(
    belief="fit", likelihood="gaussian", method="auto", chains=4, draws=25, random_state=0
).fit(X, y)

# %%
# In the belief's words: how far one has to go along a column until functions have changed, and
# their share of the variance. The truth: the bed does nothing, and the wave of the dose has a
# lengthscale of 1 / 1.2, about 0.8.

for relevance in model.relevance(X):
    print(relevance)

# %%
# Along each column, averaged over the other columns of the rows. The band is that of the function,
# not of the next patient.

figure = model.plot_partial_dependence(X)
plt.show()
