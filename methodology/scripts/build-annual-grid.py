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
import io
import json
import sys
from pathlib import Path

from tables import CARBONTRACKER, CODECARBON, ECOLOGITS, MPL, SHA256, member, write

# EcoLogits' row for Europe is no zone of ours: no grid is all of it.
LEFT_OUT = {"EEE"}
# The rows of the world have no year in either edition; theirs is that of most of the world's generation.
WORLD_YEAR = 2024

MIXES = MPL.format(file="ecologits/data/electricity_mixes.json")
ANNUAL_NOTICE = MIXES + (
    ", whose carbon intensities are those of Our World in Data: life-cycle carbon intensity of electricity generation, "
    "yearly average (https://ourworldindata.org/grapher/carbon-intensity-electricity), from Ember, Yearly Electricity "
    "Data, CC BY 4.0. Changed: only zone and intensity are kept, in g/kWh; the years are inferred from the edition "
    "before, in CarbonTracker 2.4.7 (carbontracker/data/carbon-intensities.csv) and CodeCarbon 3.3.2 (both MIT)."
)
MIXES_NOTICE = MIXES + (
    ", whose water factors stem from the World Resources Institute's guidance. Changed: only the water factors are kept."
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
