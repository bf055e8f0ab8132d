"""What a lineage and a receipt have to say beside their steps, as it follows from the facts of the call. For recompute.py."""
import math
import re
from datetime import datetime, timezone

# EcoLogits' own methodology: its receipts need not state a digest, and its lineages say less.
EARLIER = ["ecologits-0.11.3"]
MATCHES = ["live_window", "fresh", "forecast", "prior_week", "annual_fallback", "none"]
# The numbers of every receipt, and those that receipts by EcoLogits' methodology do not have. Made from the schema.
AMOUNTS = """energy_wh energy_accelerator_wh energy_host_wh energy_idle_wh energy_overhead_wh energy_low_wh energy_high_wh
carbon_g carbon_operation_g carbon_embodied_g carbon_low_g carbon_high_g sci_g_per_request water_ml pue
grid_intensity_g_per_kwh grid_intensity_age_minutes"""
OWN_AMOUNTS = """water_low_ml water_high_ml"""
KINDS = {"ecologits_impacts": "provider_estimated", "gpu_counters": "own_counters"}


def at(facts, path):
    for name in path.split("."):
        facts = (facts or {}).get(name)
    return facts


def millis(time):
    return round(datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1000)


def iso(ms):
    return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


def observed_at(grid):
    """A yearly value counts as observed at the end of its year."""
    return millis(grid["periodEnd"] if grid["signal"] == "annual" else grid["observedAt"])


def is_estimate(grid):
    return grid.get("isEstimated") is True or grid["temporalMatch"] == "fresh"


def total_of(model):
    """All parameters; of an embedding, those that work on a token."""
    return model["activeParametersB"] if model["kind"] == "embedding" else model["totalParametersB"] or model["activeParametersB"]


def fitted_accelerator(site):
    """The one that the model was fitted to: the SXM5 module of an H100, or a B200."""
    model = (site.get("accelerators") or {"model": ""})["model"]
    kinds = {"h100": r"h100([ -]+(sxm5?|80 ?gb|hbm3))*", "b200": r"b200([ -]+(sxm6?|1[89]\d ?gb|hbm3e))*"}
    stated, maker = model.strip().replace("_", "-"), r"(nvidia[ -]+)?((hgx|dgx)[ -]+)?"
    return next((name for name, kind in kinds.items() if re.fullmatch(maker + kind, stated, re.I)), "other")


def serving_of(facts, by):
    """Which measurements say how far the model can be off."""
    model, site, total = facts["model"], facts["site"], total_of(facts["model"])
    active, architecture = model["activeParametersB"], "any"
    if by == "parametric" and active["max"] < total["min"]:
        architecture = "sparse"
    elif by == "parametric" and active == total and active["min"] == active["max"]:
        architecture = "dense"
    stated = {(True, True): "both", (True, False): "bits", (False, True): "concurrency", (False, False): "neither"}
    bits = model.get("quantizationBits") in ((4, 8, 16) if architecture == "sparse" else (16,))  # those that were measured
    what = stated[bits, 7 <= (site.get("typicalConcurrency") or 0) <= 4096]
    return f"{fitted_accelerator(site)}_{architecture}_{what}"


def value_of(about, name, run, lineage):
    """What the methodology says of an input, with its value in a run of the facts."""
    facts = lineage["facts"]
    model, grid, end = facts["model"], facts["grid"], "min" if run in ("min", "least") else "max"
    follows = {
        "P_total": lambda: (total_of(model) or {}).get(end),
        "observed_at": lambda: observed_at(grid),
        "is_forecast": lambda: int("forecast" in (grid["signal"], grid["temporalMatch"])),
        "is_annual": lambda: int(grid["signal"] == "annual"),
        "is_estimated": lambda: int(is_estimate(grid)),
        "stated_match": lambda: None if grid["temporalMatch"] is None else MATCHES.index(grid["temporalMatch"]),
        "is_other_hardware": lambda: int(fitted_accelerator(facts["site"]) == "other"),
        "is_assumed_pue": lambda: int((facts["site"].get("pueEvidence") or {"kind": "assumed"})["kind"] == "assumed"),
        "is_guessed": lambda: int(re.match(r"guessed\b", model.get("parametersSource") or "", re.I) is not None),
        "is_lifecycle": lambda: int(grid.get("basis") == "lifecycle"),
        "is_world": lambda: int(grid["zone"] == "WOR"),
    }
    about = dict(about)
    if name == "P_active":
        about["fact"] += f".{end}"
    if name == "T_out" and model["kind"] == "embedding":  # it writes nothing
        return {**about, "fact": None, "value": 0}
    if name == "stated_energy":
        about["unit"] = facts["telemetry"]["stated"]["unit"]
    if about["fact"] is None:
        return {**about, "value": follows.get(name, lambda: 0)()}
    value = at(facts, about["fact"])
    return {**about, "value": millis(value) if isinstance(value, str) else value}


def given_name(name, run, lineage):
    """The name of an input or a factor; of a count of parameters that is a range it says which end."""
    base, _, own_run = name.partition("@")
    model = lineage["facts"]["model"]
    sizes = {"P_active": model["activeParametersB"], "P_total": total_of(model)}.get(base)
    if sizes is None or sizes["min"] == sizes["max"]:
        return base
    return f"{base}@{'min' if (own_run or run) in ('min', 'least') else 'max'}"


def period(grid):
    return f"{grid['periodStart']}/{grid['periodEnd']}"


def water_source(lineage):
    """By EcoLogits' methodology, and where the reading does not say it, it is recognised by its value."""
    stated = lineage["facts"]["grid"].get("waterSource")
    return lineage["grid"]["water_source"] if stated is None or lineage["methodology"] in EARLIER else stated


def facts_of_factors(lineage):
    """The two factors that are facts of the grid; the version of a water factor is that of its package."""
    grid = lineage["facts"]["grid"]
    source = water_source(lineage)
    package = "0.11.3" if source.startswith("EcoLogits 0.11.3 (") else None
    return {
        "grid_intensity": {
            "value": grid["gPerKwh"], "unit": "gCO2e/kWh", "source": grid["source"], "version": period(grid),
        },
        "WUE_grid": {"value": grid["waterLPerKwh"], "unit": "L/kWh", "source": source, "version": package},
    }


def source(name, by, since, version=None, evidence=(), sha256=None):
    said = {"source": name, "vouched_by": by, "since": since, "catalogue_version": version}
    return {**said, "evidence": list(evidence), "sha256": sha256}


def entered(name, entry, evidence=()):
    entry = entry or {}
    return source(name, entry.get("changedBy"), entry.get("changedAt"), entry.get("catalogueVersion"), evidence)


def evidence_of(site):
    named = (("PUE", site.get("pueEvidence")), ("WUE_site", site.get("wueEvidence")))
    return [{"of": of, **each} for of, each in named if each]


def sources(facts, provider):
    """Who vouches for each part of the facts."""
    model, site, grid, usage, reading = (facts.get(name) for name in ("model", "site", "grid", "usage", "telemetry"))
    asked, estimated = facts["requestedAt"], (usage or {}).get("estimated")
    counted = f"gateway, which estimated from text: {estimated}" if estimated else provider
    meter = "gpu_counters of the deployment" if reading and reading["source"] == "gpu_counters" else provider
    size = model.get("parametersSource")
    said = [{"of": "parameters", "kind": "reported", "source": size, "period": None}] if size else []
    edition = f"{grid['source']}, from {grid['edition']}" if grid.get("edition") else grid["source"]
    return [
        *([source("usage of the call", counted, asked)] if usage else []),
        source("timing of the call", "gateway", asked),
        entered("model catalogue", model.get("entry"), said),
        entered("deployment catalogue", site.get("entry"), evidence_of(site)),
        source("grid reading", edition, grid.get("fetchedAt"), sha256=grid.get("replySha256")),
        *([entered("region catalogue: which grid zone it is", site["regionEntry"])] if site.get("regionEntry") else []),
        *([source("measured energy of the call", "simulator" if facts.get("simulated") else meter, asked)] if reading else []),
    ]


def calculation(lineage, tier):
    """What kind of calculation the facts ask for. By EcoLogits' methodology it is taken as it is."""
    stated, facts = lineage["calculation"], lineage["facts"]
    if lineage["methodology"] in EARLIER:
        return stated
    model, usage = facts["model"], facts["usage"]
    reading = facts["telemetry"] if tier == "telemetry" else None
    active, total = model["activeParametersB"], total_of(model)
    sized = active is not None and total is not None and (model["kind"] == "embedding" or model["totalParametersB"] is not None)
    by = None if usage is None else "parametric" if sized and facts["requestedTier"] != "proxy" else None
    if usage is not None and by is None and model["modelClass"] is not None:
        by = "proxy"
    figure = (reading or {}).get("stated") or {}
    estimated = (usage or {}).get("estimated")
    unknown = "embedding" if model["kind"] == "embedding" else "unknown"  # the class of a model of which nothing is known
    if usage is not None and by is None:
        by = "proxy"
    return {
        "tier": tier, "boundary": facts["boundary"], "model_kind": model["kind"], "modelled_by": by,
        "parameter_range": by == "parametric" and any(each["min"] != each["max"] for each in (active, total)),
        "model_class": None if by == "parametric" else (by and model["modelClass"]) or unknown,
        "serving": serving_of(facts, by),
        "measured": reading and {
            "scope": reading["scope"], "unit": figure.get("unit"), "includes_pue": reading["includesPue"],
            "bounds": "stated" if reading["scope"] == "total" and figure.get("range") else "measurement",
        },
        **({"estimated_counts": estimated} if estimated and by else {}),
        **({"cut_short": True} if facts.get("isCutShort") else {}),
    }


def grid_words(lineage):
    grid = lineage["facts"]["grid"]
    words = {
        "zone": grid["zone"], "source": grid["source"], "signal": grid["signal"], "stated_match": grid["temporalMatch"],
        "period": period(grid), "water_source": water_source(lineage),
    }
    if lineage["methodology"] in EARLIER:
        return words
    basis, yearly = grid.get("basis", "unknown"), grid["signal"] == "annual"
    return {
        **words, "basis": "combustion" if basis == "direct" else basis,
        "vintage": int(iso(millis(grid["periodStart"]))[:4]) if yearly else None, "is_estimated": is_estimate(grid),
    }


def telemetry(facts, tier):
    said = facts.get("telemetry")
    if not said:
        return None
    names = {"scope": "scope", "includes_pue": "includesPue", "duration_s": "durationS", "interval_s": "intervalS"}
    simulated = facts.get("simulated")
    return {
        "used": tier == "telemetry", "source": "simulator" if simulated else said["source"],
        "energy_source": "simulated" if simulated else KINDS.get(said["source"], "provider_reported"),
        **{name: said.get(path) for name, path in names.items()},
        **{name: said.get(name) for name in ("refused", "attribution", "stated", "raw")},
    }


def stated_call(call, facts):
    """A call of no project says nothing of it, so that those from before there were projects stay as they are."""
    words = {name: call.get(name) for name in ("id", "version", "model", "provider", "region")}
    words.update({"created_at": facts["requestedAt"], "deployment": facts["site"].get("id")})
    stated = {name: call[name] for name in ("pinned_region", "api", "project") if isinstance(call.get(name), str)}
    return {**words, **stated}


def lineage_words(lineage, receipt, outputs):
    """Every field of a lineage, as it follows. In words that only the calculation gives it has to agree with the receipt."""
    facts, stated = lineage["facts"], receipt or lineage
    tier = receipt["tier"] if receipt else lineage["calculation"]["tier"]
    agreed = ("tier_reason", "boundary_excludes", "uncertainty_basis", "methodology", "methodology_version", "methodology_hash")
    measured = lineage["calculation"]["measured"]
    usage = facts["usage"] or {}
    accelerators = facts["site"].get("accelerators")
    call = lineage.get("call")
    return {
        "object": "gw.lineage", "facts": facts, "inputs": lineage["inputs"], "factors": lineage["factors"], "steps": lineage["steps"], "digest": lineage["digest"],
        **({"call": stated_call(call, facts)} if call else {}),
        **{name: stated[name] for name in agreed},
        "sources": sources(facts, (call or {}).get("provider")), "calculation": calculation(lineage, tier),
        "prompt_tokens": None if "parts_uncounted" in usage.get("doubts", ()) else usage.get("promptTokens"),
        "completion_tokens": usage.get("completionTokens"),
        "energy_split": "modelled" if not measured else "unavailable" if measured["scope"] == "total" else "measured",
        "grid": grid_words(lineage), "telemetry": telemetry(facts, tier),
        **({"accelerators": accelerators} if accelerators else {}),
        **({"modelled_energy_wh": lineage["modelled_energy_wh"]} if "modelled_energy_wh" in outputs else {}),
        **({"ecologits": lineage.get("ecologits")} if has_ecologits(lineage) else {}),
        **({"simulated": True} if facts.get("simulated") else {}),
    }


def has_ecologits(lineage):
    """Whether EcoLogits' value stands beside ours: where the parameters of a chat model are known and nothing was measured."""
    kind = lineage["calculation"]
    return lineage["methodology"] not in EARLIER and kind["tier"] == "parametric" and kind["model_kind"] == "chat"


def meter(reading, outputs):
    """Who measured the energy, and whether it is within a factor of 5 of all that the model can be."""
    if reading["scope"] == "accelerator":
        return "counters"
    least, most = outputs.get("modelled_smallest"), outputs.get("modelled_largest")
    is_compared = least is not None and most is not None and most > 0
    far = is_compared and (reading["energyWh"] > most * 5 or reading["energyWh"] * 5 < least)
    return "provider_doubtful" if far else "provider"


# EcoLogits 0.11.3 (doi:10.21105/joss.07471): the energy of a token on one GPU and its latency, fitted to ML.ENERGY for 64 requests at
# once on H100; the server without its GPUs; the carbon of making both, over three years.
BATCH, MEMORY_GB, SERVER_KW, LIFE_S, GPU_KG, SERVER_KG = 64, 80, 1.2, 94608000, 273, 5700
ENERGY = (1.1665273170451914e-06, -0.011205921025579175, 4.052928146734005e-05)
LATENCY = (0.0006785088094353663, 0.0003119310311688259, 0.019473717579473387)

# The document in which the gateway has them.
ECOLOGITS = {
    "methodology_version": "0.11.3",
    "methodology_hash": "sha256:52b9f655a302e82812e65235b85c6b198bf61de92c086795585d3628ec66e415",
}


def ecologits_of(facts, end):
    """Wh of the accelerators, Wh of the server and GPU-seconds, at one end of a range of parameters."""
    model, tokens = facts["model"], facts["usage"]["completionTokens"]
    active, total = model["activeParametersB"][end], total_of(model)[end]
    speed = model["tokensPerS"]
    second = 1 / speed if speed else LATENCY[0] * active + LATENCY[1] * BATCH + LATENCY[2]
    latency = tokens and tokens * second + (model["ttftS"] or 0)
    if facts["upstreamLatencyS"] is not None:
        latency = min(latency, facts["upstreamLatencyS"])
    memory = 1.2 * total * (model["quantizationBits"] or 16) / 8
    gpus = 2 ** math.ceil(math.log2(max(1, math.ceil(memory / MEMORY_GB))))
    token = ENERGY[0] * math.exp(ENERGY[1] * BATCH) * active + ENERGY[2]
    return gpus * tokens * token, latency / 3600 * SERVER_KW * 1000 * gpus / 8 / BATCH, latency * gpus / BATCH


def ecologits(facts):
    """Energy, carbon and water by EcoLogits' formulas. A range of parameters counts as the mean of its ends."""
    site, grid = facts["site"], facts["grid"]
    gpus, server, seconds = (sum(both) / 2 for both in zip(ecologits_of(facts, "min"), ecologits_of(facts, "max")))
    if facts["boundary"] == "narrow":
        return {**ECOLOGITS, "energy_wh": gpus, "carbon_g": gpus / 1000 * grid["gPerKwh"], "water_ml": None}
    wues = site["wueOnsiteLPerKwh"], grid["waterLPerKwh"]
    energy, made = (gpus + server) * site["pue"], seconds / LIFE_S * (SERVER_KG / 8 + GPU_KG) * 1000
    water = None if None in wues else (gpus + server) * (wues[0] + site["pue"] * wues[1])
    return {**ECOLOGITS, "energy_wh": energy, "carbon_g": energy / 1000 * grid["gPerKwh"] + made, "water_ml": water}


def receipt_words(lineage, outputs):
    """Every field of a receipt that follows."""
    facts, usage, grid = lineage["facts"], lineage["facts"]["usage"], lineage["facts"]["grid"]
    words = {name: outputs.get(name) for name in AMOUNTS.split()}
    same = ("tier_reason", "boundary_excludes", "energy_split", "uncertainty_basis", "prompt_tokens", "completion_tokens",
            "methodology", "methodology_version", "methodology_hash")
    words.update({name: lineage[name] for name in same})
    words.update({
        "tier": lineage["calculation"]["tier"], "boundary": facts["boundary"], "grid_zone": grid["zone"],
        "energy_failed_attempts_wh": None, "grid_intensity_source": grid["source"],
        "grid_intensity_observed_at": iso(observed_at(grid)), "grid_intensity_requested_at": iso(millis(facts["requestedAt"])),
    })
    if "sci_g_per_request" not in outputs:  # EcoLogits' methodology has no step for it
        words["sci_g_per_request"] = outputs["carbon_g"] if "carbon_embodied_g" in outputs else None
    if "grid_temporal_match_number" in outputs:
        words["grid_temporal_match"] = MATCHES[int(outputs["grid_temporal_match_number"])]
    if lineage["methodology"] not in EARLIER:
        words.update({name: outputs.get(name) for name in OWN_AMOUNTS.split()})
        words.update({f"grid_{name}": lineage["grid"][name] for name in ("basis", "vintage")})
        most = facts.get("failedAttemptsMostWh", 0)
        words.update({"energy_failed_attempts_wh": 0 if most == 0 else None, "energy_failed_attempts_high_wh": most})
    if "modelled_energy_wh" in outputs:
        words["modelled_energy_wh"] = outputs["modelled_energy_wh"]
    if words["tier"] == "telemetry":
        words["measured_by"] = meter(facts["telemetry"], outputs)
    if facts.get("simulated"):
        words["simulated"] = True
    if "call" in lineage:
        call = {name: value for name, value in lineage["call"].items() if name != "deployment"}
        supersedes = None if call["version"] == 1 else call["version"] - 1
        counted = None if usage is None else "estimated" if usage.get("estimated") else "provider"
        words.update({
            "pinned_region": None, "project": None, **call, "object": "gw.receipt", "supersedes": supersedes, "requested_tier": facts["requestedTier"],
            "usage_source": counted, "lineage_digest": lineage["digest"],
        })
    return words
