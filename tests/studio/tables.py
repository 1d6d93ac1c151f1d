"""Tables for the studio's tests."""

import numpy as np
import pandas as pd

ROWS = 60


def patients() -> pd.DataFrame:
    """Numbers, categories, an identifier, gaps and a constant."""
    rng = np.random.default_rng(0)
    age, dose = rng.uniform(20, 80, ROWS).round(1), rng.uniform(0, 4, ROWS).round(2)
    pressure = 120 + 8 * np.sin(age / 12) - 4 * dose + rng.normal(0, 2, ROWS)
    dose[3] = np.nan
    return pd.DataFrame(
        {
            "id": [f"P{i:03d}" for i in range(ROWS)],
            "age": age,
            "dose": dose,
            "sex": rng.choice(["f", "m"], ROWS),
            "device": "A7",
            "pressure": pressure.round(2),
        }
    )


HOSTILE = "<script>document.title='hacked'</script>"
BAD = {
    "empty": ("", "it is empty"),
    "names alone": ("a,b\n", "no rows"),
    "one row": ("a,b\n1,2\n", "one row"),
    "all text": ("a,b\n" + "x,y\nz,w\n" * 5, "no column of numbers"),
    "10,000 columns": (
        ",".join(f"c{i}" for i in range(10_000)) + "\n" + (",".join(["1"] * 10_000) + "\n") * 2,
        "10,000 columns",
    ),
    "a target alone": ("a,b\n1,5\n1,6\n1,8\n", "can be an input"),
    "ragged": ("a,b\n1,2,3\n", "line 2 has 3 columns"),
    "identifiers and scripts": (
        f"{HOSTILE},y\n" + "".join(f"{HOSTILE}{i},{i}\n" for i in range(99)),
        "can be an input",
    ),
}
