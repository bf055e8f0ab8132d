#!/usr/bin/env python3
"""Makes testdata/ecologits-random-cases.json: 200 random calls, and what EcoLogits 0.11.3 itself gives for them, unrounded.

    python3 -m venv venv && venv/bin/pip install ecologits==0.11.3
    venv/bin/python methodology/scripts/ecologits-random-cases.py > methodology/testdata/ecologits-random-cases.json

The seed is fixed, so the same version gives the same file. `cases` are those in which both agree. A call without output has a
time to the first token in `empty` alone: EcoLogits charges that time, this package charges nothing for nothing, and does not
call its formula theirs.
"""
import json
import math
import random
import sys

import ecologits
from ecologits.impacts.llm import compute_llm_impacts_dag

if ecologits.__version__ != "0.11.3":
    sys.exit(f"This is EcoLogits {ecologits.__version__}, and the cases are of 0.11.3.")

STEPS = {
    "gpu_energy": "gpu_energy", "generation_latency": "generation_latency",
    "model_required_memory": "model_required_memory", "gpu_required_count": "gpu_required_count",
    "server_energy": "server_energy", "request_energy": "request_energy",
    "usage_gwp": "request_usage_gwp", "usage_adpe": "request_usage_adpe", "usage_pe": "request_usage_pe",
    "wcf": "request_usage_wcf", "embodied_gwp": "request_embodied_gwp", "embodied_adpe": "request_embodied_adpe",
    "embodied_pe": "request_embodied_pe",
}
draw = random.Random(20261124)


def log_uniform(low, high):
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def case(empty=False):
    total = log_uniform(0.1, 2000)
    output = 0 if empty else draw.choice([0, 1, draw.randint(2, 500), draw.randint(500, 200_000)])
    first = log_uniform(0.01, 10) if empty else None
    given = {
        "active_params_b": draw.choice([total, total * draw.uniform(0.02, 1)]),
        "total_params_b": total,
        "output_tokens": output,
        "quantization_bits": draw.choice([None, None, 4, 8, 16, 32]),
        "request_latency_s": draw.choice([None, log_uniform(0.05, 600)]),
        "tps": draw.choice([None, log_uniform(1, 1000)]),
        "ttft_s": first if output == 0 else draw.choice([None, log_uniform(0.01, 10)]),
        "pue": draw.uniform(1, 2),
        "wue_onsite_l_per_kwh": draw.choice([0, draw.uniform(0, 3)]),
        "gwp_kg_per_kwh": draw.uniform(0.01, 1),
        "adpe_kg_per_kwh": draw.uniform(1e-8, 3e-7),
        "pe_mj_per_kwh": draw.uniform(1, 15),
        "wue_l_per_kwh": draw.uniform(0.1, 10),
    }
    found = compute_llm_impacts_dag(
        model_active_parameter_count=given["active_params_b"], model_total_parameter_count=given["total_params_b"],
        output_token_count=output, model_quantization_bits=given["quantization_bits"] or 16,
        request_latency=math.inf if given["request_latency_s"] is None else given["request_latency_s"],
        tps=given["tps"], ttft=given["ttft_s"], datacenter_pue=given["pue"], datacenter_wue=given["wue_onsite_l_per_kwh"],
        if_electricity_mix_gwp=given["gwp_kg_per_kwh"], if_electricity_mix_adpe=given["adpe_kg_per_kwh"],
        if_electricity_mix_pe=given["pe_mj_per_kwh"], if_electricity_mix_wue=given["wue_l_per_kwh"],
    )
    return {"input": given, "output": {name: found[step] for name, step in STEPS.items()}}


notice = (
    "Reference results computed with the functions of EcoLogits 0.11.3 (https://github.com/mlco2/ecologits, "
    "doi:10.21105/joss.07471), a program under the Mozilla Public License 2.0 (https://mozilla.org/MPL/2.0/). "
    "Numbers only; used to check that this package reproduces EcoLogits."
)
rows = ",\n".join("    " + json.dumps(case()) for _ in range(200))
empty = ",\n".join("    " + json.dumps(case(empty=True)) for _ in range(20))
generator = "ecologits 0.11.3 (PyPI), scripts/ecologits-random-cases.py"
print(f'{{\n  "notice": {json.dumps(notice)},\n  "generator": "{generator}",')
print(f'  "cases": [\n{rows}\n  ],\n  "empty": [\n{empty}\n  ]\n}}')
