"""Makes the tables beside it: as people have them, and with answers that are known.

python tests/data/everyday/make.py

`NAME.csv.gz` is to be fitted, `NAME-new.csv.gz` to be predicted; that has the target as well.
"""

from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent


def prices(rng: np.random.Generator, rows: int = 500) -> pd.DataFrame:
    """Text, dates, gaps and one price that is a slip of the pen."""
    area = rng.uniform(35, 180, rows)
    district = rng.choice(["Altstadt", "Hafen", "Nord", "Süd", "West"], rows)
    factor = {"Altstadt": 1.35, "Hafen": 1.2, "Nord": 0.85, "Süd": 1.0, "West": 0.95}
    built = rng.integers(1900, 2024, rows)
    sold = pd.Timestamp("2016-01-01") + pd.to_timedelta(rng.integers(0, 3000, rows), unit="D")
    years = (sold - pd.Timestamp("2016-01-01")).days / 365.25
    old = np.abs(built - 1965) / 60
    price = 2.6 * area**0.95 * np.vectorize(factor.get)(district) * (0.8 + 0.3 * old)
    price = price * 1.04**years * np.exp(0.06 * rng.normal(size=rows))
    table = pd.DataFrame(
        {
            "area": area.round(1),
            "district": district,
            "built": built,
            "sold": sold.strftime("%Y-%m-%d"),
            "balcony": rng.choice(["yes", "no"], rows),
            "price": price.round(1),
        }
    )
    table.loc[rng.choice(rows, 25, replace=False), "area"] = np.nan
    table.loc[rng.choice(rows, 15, replace=False), "district"] = None
    table.loc[17, "price"] *= 30
    return table


def faults(rng: np.random.Generator, rows: int = 1200) -> pd.DataFrame:
    """Labels of which one is rare."""
    load, speed, age = rng.uniform(0, 1, (3, rows))
    oil = rng.choice(["mineral", "synthetic"], rows)
    logit = -5.0 + 5 * load * speed + 3 * age**2 - 1.2 * (oil == "synthetic")
    broken = rng.uniform(size=rows) < 1 / (1 + np.exp(-logit))
    return pd.DataFrame(
        {
            "load": (100 * load).round(1),
            "speed": (3000 * speed).round(),
            "age": (12 * age).round(2),
            "oil": oil,
            "state": np.where(broken, "fault", "fine"),
        }
    )


def visitors(rng: np.random.Generator, months: int = 360) -> pd.DataFrame:
    """A series with a trend and a season."""
    month = np.arange(months)
    season = 18 * np.sin(2 * np.pi * month / 12) + 7 * np.cos(4 * np.pi * month / 12)
    found = 200 + 0.3 * month + season + 4 * rng.normal(size=months)
    return pd.DataFrame({"month": month, "visitors": found.round(1)})


def sensors(rng: np.random.Generator, rows: int = 44_000) -> pd.DataFrame:
    """Many rows, with noise that depends on the inputs."""
    flow, heat, pressure, valve = rng.uniform(-2, 2, (4, rows))
    signal = 3 * np.sin(1.5 * flow) + heat * pressure - 1.5 * np.tanh(2 * valve)
    found = signal + (0.2 + 0.3 * (heat > 0) * heat) * rng.normal(size=rows)
    columns = {"flow": flow, "heat": heat, "pressure": pressure, "valve": valve, "signal": found}
    return pd.DataFrame(columns).round(2)


def formula(rng: np.random.Generator, rows: int = 400) -> pd.DataFrame:
    """A deflection without noise (a beam), of five inputs."""
    force, length, width, height = rng.uniform(1, 2, (4, rows))
    modulus = rng.uniform(0.8, 1.6, rows)
    bend = 10 * force * length**3 / (modulus * width * height**3)
    inputs = {"force": force, "length": length, "width": width, "height": height}
    return pd.DataFrame({**inputs, "modulus": modulus, "bend": bend}).round(5)


HELD_OUT = {"prices": 150, "faults": 500, "sensors": 4000, "formula": 150}


def main() -> None:
    """Write all tables."""
    for number, make in enumerate((prices, faults, visitors, sensors, formula)):
        rng = np.random.default_rng(number)
        table, name = make(rng), make.__name__
        if name == "visitors":  # the last two years, and some months between
            new = (table.index >= len(table) - 24) | table.index.isin(rng.choice(336, 100, False))
        else:
            new = table.index >= len(table) - HELD_OUT[name]
        for part, ending in ((table[~new], ""), (table[new], "-new")):
            part.to_csv(
                HERE / f"{name}{ending}.csv.gz", index=False,
                compression={"method": "gzip", "mtime": 0},
            )  # fmt: skip


if __name__ == "__main__":
    main()
