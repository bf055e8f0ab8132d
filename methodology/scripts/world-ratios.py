#!/usr/bin/env python3
"""The spreads of gw-1.4 that follow from tables in this repository, as ratios to the value that stands for them.

Usage: python3 methodology/scripts/world-ratios.py
Percentiles are linear between the two nearest; each country counts once. The constants are these, rounded.
"""
import json, math, os

HERE = os.path.dirname(os.path.abspath(__file__))


def rows(name):
    return json.load(open(os.path.join(HERE, "..", name)))["rows"]


def percentile(values, share):
    values, at = sorted(values), share * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


def ratios(what, values, world):
    print(f"{what}: {len(values)} countries, least {world / percentile(values, 0.05):.4f}, most {percentile(values, 0.95) / world:.4f}")


grid = {row["zone"]: row for row in rows("data/annual-grid.json")}
ratios("grid_world", [row["g_per_kwh"] for zone, row in grid.items() if zone != "WOR"], grid["WOR"]["g_per_kwh"])
water = rows("data/ecologits-mixes.json")
ratios("water_world", [row["water_l_per_kwh"] for row in water if not row["world_average"]], 3.908)
earlier = {row["zone"]: row for row in rows("testdata/earlier-annual-grid.json")}
drift = []
for zone, row in grid.items():
    before = earlier.get(zone)
    years = row["year"] - before["year"] if before else 0
    if years > 0:
        drift.append(math.exp(abs(math.log(row["g_per_kwh"] / before["g_per_kwh"])) / years))
print(f"grid_drift: {len(drift)} zones, a year {percentile(drift, 0.9):.4f}")
