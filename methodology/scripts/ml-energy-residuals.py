#!/usr/bin/env python3
"""Residuals of EcoLogits 0.11.3's GPU-energy and latency fits against ML.ENERGY's measurements.

Data (Apache-2.0):
  v2  https://github.com/ml-energy/leaderboard-v2  commit c3af7f31e231a2a7021c5f8e2a54dd712d02e6e2  (LICENSE there)
  v3  https://github.com/ml-energy/leaderboard     commit 0cd52dab897c5d91a45f4d413038f3b8b4251b0f  (no LICENSE file in
      that repository; the same records are published as an Apache-2.0 data set, ml-energy/data data_publishing/LICENSE)
Usage: python3 methodology/scripts/ml-energy-residuals.py <git dir of leaderboard-v2> <git dir of leaderboard>
Energy is GPU only (NVML, all GPUs of the deployment, steady state), per output token.
"""
import json, math, subprocess, sys
from collections import defaultdict

V2, V3 = sys.argv[1:3]
C2 = "c3af7f31e231a2a7021c5f8e2a54dd712d02e6e2"
C3 = "0cd52dab897c5d91a45f4d413038f3b8b4251b0f"
# active parameters of v2's sparse models, as in EcoLogits 0.11.3's models.json (Mistral)
ACTIVE = {"mistralai/Mixtral-8x7B-Instruct-v0.1": 12.9, "mistralai/Mixtral-8x22B-Instruct-v0.1": 39.1}


def git(d, *a):
    return subprocess.check_output(["git", "--git-dir", d, *a])


def f_energy(p, b=64):  # Wh per token and GPU
    return 1.1665273170451914e-06 * math.exp(-0.011205921025579175 * b) * p + 4.052928146734005e-05


def f_latency(p, b=64):  # s per token
    return 0.0006785088094353663 * p + 0.0003119310311688259 * b + 0.019473717579473387


def gpus(total, bits=16):
    return 2 ** math.ceil(math.log2(math.ceil(1.2 * total * bits / 8 / 80)))


def load_v2():
    for task in ("chat", "code"):
        base = f"data/llm_text_generation/{task}"
        models = json.loads(git(V2, "show", f"{C2}:{base}/models.json"))
        for path in git(V2, "ls-tree", "-r", "--name-only", C2, base).decode().splitlines():
            if not path.endswith(".json") or path.endswith("models.json"):
                continue
            x = json.loads(git(V2, "show", f"{C2}:{path}"))
            total = float(models[x["Model"]]["params"])
            yield dict(data="v2", task=task, model=x["Model"], gpu="A100-40" if "A100" in x["GPU"] else "H100",
                       total=total, active=ACTIVE.get(x["Model"], total), n=x["TP"] * x["PP"], bits=16,
                       bs=x["Avg BS (reqs)"], maxbs=x["Max BS (reqs)"],
                       wh=x["Energy/req (J)"] / x["Avg Output Tokens"] / 3600, lat=x["Avg TPOT (s)"])


def load_v3():
    bits = {"bfloat16": 16, "fp8": 8, "mxfp4": 4}
    for task in ("lm-arena-chat", "gpqa", "sourcegraph-fim"):
        for x in json.loads(git(V3, "show", f"{C3}:public/data/tasks/{task}.json"))["configurations"]:
            yield dict(data="v3", task=task, model=x["model_id"], gpu=x["gpu_model"], total=x["total_params_billions"],
                       active=x["activated_params_billions"], n=x["num_gpus"], bits=bits[x["weight_precision"]],
                       bs=x["avg_batch_size"], maxbs=x["max_num_seqs"],
                       wh=x["energy_per_token_joules"] / 3600, lat=x["median_itl_ms"] / 1000)


def q(v, p):
    s = sorted(v)
    k = (len(s) - 1) * p
    i = int(k)
    return s[i] + (s[min(i + 1, len(s) - 1)] - s[i]) * (k - i)


def line(name, rows, key):
    if not rows:
        return
    v = [r[key] for r in rows]
    m = len({(r["model"], r["task"]) for r in rows})
    print(f"{name:46s} N={len(v):4d} ({m:2d} model-tasks) " + " ".join(f"{q(v, p):7.3f}" for p in (.05, .25, .5, .75, .95)))


rows = list(load_v2()) + list(load_v3())
for r in rows:
    r["g16"] = gpus(r["total"])
    r["r"] = r["wh"] / (r["g16"] * f_energy(r["active"]))                    # as asked: EcoLogits as it computes
    r["rb"] = r["wh"] / (gpus(r["total"], r["bits"]) * f_energy(r["active"]))  # with the model's real bits
    r["rn"] = r["wh"] / (r["n"] * f_energy(r["active"]))                     # with the real number of GPUs
    r["rB"] = r["wh"] / (r["g16"] * f_energy(r["active"], min(r["bs"], 512)))  # with the real batch (<=512)
    r["rt"] = r["wh"] / (r["n"] * f_energy(r["total"], r["bs"]))             # the fit's own terms (total params, real n and B)
    r["l"] = r["lat"] / f_latency(r["active"])
    r["lB"] = r["lat"] / f_latency(r["active"], r["bs"])

mid = lambda r: 15 <= r["bs"] <= 257
near = lambda r: 48 <= r["bs"] <= 96
classes = [("<=10B", lambda r: r["total"] <= 10), ("10-40B", lambda r: 10 < r["total"] <= 40),
           ("40-200B", lambda r: 40 < r["total"] <= 200), (">200B", lambda r: r["total"] > 200)]
print("columns: 5th 25th 50th 75th 95th percentile")
for key, title in (("r", "ENERGY ratio, EcoLogits as is (16 bit, B=64, P_active)"), ("rb", "same, real weight bits in GPU count"),
                   ("rn", "same, real GPU count"), ("rB", "same as r, but formula at the real batch"), ("l", "LATENCY ratio at B=64"),
                   ("lB", "LATENCY ratio at the real batch")):
    print("\n##", title)
    for data, gpu in (("v2", "H100"), ("v2", "A100-40"), ("v3", "H100"), ("v3", "B200")):
        s = [r for r in rows if r["data"] == data and r["gpu"] == gpu]
        t = f"{data} {gpu} "
        line(t + "all batches", s, key)
        line(t + "batch 16-256", [r for r in s if mid(r)], key)
        line(t + "batch 48-96", [r for r in s if near(r)], key)
        if key in ("r", "l", "rb", "rn"):
            for c, f in classes:
                line(t + c + " all", [r for r in s if f(r)], key)
                line(t + c + " batch 16-256", [r for r in s if f(r) and mid(r)], key)
        if data == "v3" and key in ("r", "l"):
            for task in ("lm-arena-chat", "gpqa", "sourcegraph-fim"):
                line(t + task + " 16-256", [r for r in s if r["task"] == task and mid(r)], key)
            line(t + "dense 16-256", [r for r in s if r["active"] == r["total"] and mid(r)], key)
            line(t + "sparse 16-256", [r for r in s if r["active"] != r["total"] and mid(r)], key)
            line(t + "16 bit 16-256", [r for r in s if r["bits"] == 16 and mid(r)], key)
    s = [r for r in rows if r["gpu"] == "H100" and (r["data"] == "v2" or True)]
    line("H100 v2+v3 all", s, key)
    line("H100 v2+v3 batch 16-256", [r for r in s if mid(r)], key)
    line("H100 v2+v3 <=200B 16-256", [r for r in s if mid(r) and r["total"] <= 200], key)
    line("H100 v2+v3 >200B 16-256", [r for r in s if mid(r) and r["total"] > 200], key)
print("\n## the fit in its own terms (chat, H100, total<=200, B<=512, real n and B, TOTAL parameters)")
s = [r for r in rows if r["data"] == "v2" and r["gpu"] == "H100" and r["task"] == "chat" and r["total"] <= 200 and r["maxbs"] <= 512]
line("v2 H100 chat", s, "rt")
print("rms of ln ratio", round(math.sqrt(sum(math.log(r["rt"]) ** 2 for r in s) / len(s)), 3))

print("\n## HARDWARE: energy per token against H100, same model, task and configured batch")
for data, other in (("v2", "A100-40"), ("v3", "B200")):
    by = defaultdict(dict)
    for r in rows:
        if r["data"] == data:
            k = (r["model"], r["task"], r["maxbs"])
            if r["gpu"] not in by[k] or r["wh"] < by[k][r["gpu"]]["wh"]:
                by[k][r["gpu"]] = r
    p = [dict(model=k[0], task=k[1], r=v[other]["wh"] / v["H100"]["wh"], bs=v["H100"]["bs"]) for k, v in by.items() if len(v) == 2]
    line(f"{other}/H100 same batch, all", p, "r")
    line(f"{other}/H100 same batch, 16-256", [x for x in p if mid(x)], "r")
    best = defaultdict(dict)
    for r in rows:
        if r["data"] == data:
            k = (r["model"], r["task"])
            if r["gpu"] not in best[k] or r["wh"] < best[k][r["gpu"]]["wh"]:
                best[k][r["gpu"]] = r
    p = [dict(model=k[0], task=k[1], r=v[other]["wh"] / v["H100"]["wh"]) for k, v in best.items() if len(v) == 2]
    line(f"{other}/H100 best configuration of each", p, "r")
print("\n## >200B, H100, batch 16-256, one line each")
for r in sorted((r for r in rows if r["gpu"] == "H100" and r["total"] > 200), key=lambda r: (r["model"], r["task"], r["bs"])):
    print(r["data"], r["model"], r["task"], "n", r["n"], "g16", r["g16"], "B %.0f" % r["bs"], "J/tok %.3f" % (r["wh"] * 3600), "r %.3f" % r["r"], "rn %.3f" % r["rn"])
