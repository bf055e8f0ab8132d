#!/usr/bin/env python3
"""Builds the two bundled grid tables from pinned packages, byte for byte reproducibly.

    pip download --no-deps codecarbon==3.3.2 ecologits==0.11.3 --dest /tmp/grid
    python3 methodology/scripts/build-annual-grid.py /tmp/grid

annual-grid.json      carbon intensity by country and year (Ember through Our World in Data, as packaged by CodeCarbon)
ecologits-mixes.json  water per kWh by country (EcoLogits; MPL-2.0, hence a file of its own)

A row without a year, or with an intensity of zero, is left out: the first cannot be dated in a receipt, and no grid's
life-cycle intensity is zero, so such a zero is a rounded or missing figure.

The zone WOR is derived: the mean of those rows, weighted by each country's generation of its year.
"""
import json
import sys
import zipfile
from pathlib import Path

CODECARBON = "codecarbon-3.3.2-py3-none-any.whl"
ECOLOGITS = "ecologits-0.11.3-py3-none-any.whl"
DATA = Path(__file__).resolve().parent.parent / "data"

ANNUAL_NOTICE = (
    "Life-cycle carbon intensity of electricity generation, yearly average by country. Source: Ember, Yearly "
    "Electricity Data, with processing by Our World in Data (https://ourworldindata.org/grapher/"
    "carbon-intensity-electricity), CC BY 4.0; taken from codecarbon 3.3.2 (global_energy_mix.json), MIT, copyright "
    "Mila, BCG Gamma, CometML, Haverford College and Code Carbon NGO. Changed: only zone, intensity and year are kept; the row WOR is derived, the mean of all countries weighted by "
    "their generation (TWh, same table)."
)
MIXES_NOTICE = (
    "This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not "
    "distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/. Extracted from EcoLogits 0.11.3 "
    "(ecologits/data/electricity_mixes.json, https://github.com/mlco2/ecologits, doi:10.21105/joss.07471), whose water "
    "factors stem from the World Resources Institute's guidance. Changed: only the water factors are kept."
)


def read(folder: Path, wheel: str, member: str):
    with zipfile.ZipFile(folder / wheel) as archive:
        return json.loads(archive.read(member))


def write(name: str, head: dict, rows: list) -> None:
    """One row a line, so that a change of the data reads well as a diff."""
    lines = ",\n".join("    { " + json.dumps(row, ensure_ascii=False)[1:-1] + " }" for row in rows)
    body = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    (DATA / name).write_text("{\n" + body + '  "rows": [\n' + lines + "\n  ]\n}\n", encoding="utf-8")
    print(f"{name}: {len(rows)} rows")


def world(rows: dict) -> dict:
    """The mean of all countries with a dated intensity, weighted by generation; dated as most of the generation is."""
    generation = {zone: row["total_TWh"] for zone, row in rows.items()}
    years = {row["year"] for row in rows.values()}
    by_year = {year: sum(generation[zone] for zone, row in rows.items() if row["year"] == year) for year in years}
    year = max(by_year, key=by_year.get)
    weighted = sum(generation[zone] * row["carbon_intensity"] for zone, row in rows.items())
    return {
        "zone": "WOR",
        "g_per_kwh": round(weighted / sum(generation.values()), 3),
        "year": year,
        "source": f"ember-{year} (world, derived: {len(rows)} countries of {min(years)}-{max(years)} by generation)",
        "licence": "CC-BY-4.0",
    }


def main() -> None:
    folder = Path(sys.argv[1])
    table = read(folder, CODECARBON, "codecarbon/data/private_infra/global_energy_mix.json")
    annual = {zone: row for zone, row in sorted(table.items()) if row["carbon_intensity"] and row["year"]}
    write(
        "annual-grid.json",
        {"notice": ANNUAL_NOTICE, "unit": "gCO2e/kWh"},
        sorted(
            [
                {
                    "zone": zone,
                    "g_per_kwh": row["carbon_intensity"],
                    "year": row["year"],
                    "source": f"ember-{row['year']}",
                    "licence": "CC-BY-4.0",
                }
                for zone, row in annual.items()
            ]
            + [world(annual)],
            key=lambda row: row["zone"],
        ),
    )
    mixes = read(folder, ECOLOGITS, "ecologits/data/electricity_mixes.json")["electricity_mixes"]
    write(
        "ecologits-mixes.json",
        {"notice": MIXES_NOTICE, "licence": "MPL-2.0", "source": "ecologits-0.11.3", "unit": "L/kWh"},
        [
            {
                "zone": mix["name"],
                "water_l_per_kwh": mix["wue"],
                # EcoLogits puts the world's average where a country has no figure of its own.
                "world_average": mix["name"] == "WOR" or "electricity-mix-wue-world" in (mix["warnings"] or []),
            }
            for mix in sorted(mixes, key=lambda mix: mix["name"])
        ],
    )


if __name__ == "__main__":
    main()
