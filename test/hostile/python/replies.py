"""Asks the hostile provider for replies by number, and prints what the official client made of each, a line of JSON each."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

from openai import OpenAI

client = OpenAI(base_url=os.environ["GW_TEST_BASE_URL"], api_key=os.environ["GW_TEST_KEY"], max_retries=0)
FROM, COUNT = int(os.environ["GW_TEST_FROM"]), int(os.environ["GW_TEST_COUNT"])


def ask(seed):
    stream = seed % 4 != 0
    fields = {"model": os.environ["GW_TEST_MODEL"], "max_tokens": 64, "stream": stream}
    if seed % 3 == 0 and stream:
        fields["stream_options"] = {"include_usage": True}
    objects, error = [], None
    try:
        messages = [{"role": "user", "content": str(seed)}]
        reply = client.chat.completions.create(messages=messages, **fields)
        for each in reply if stream else [reply]:
            objects.append(each.model_dump())
    except Exception as fault:  # which kind it is, the test looks at
        error = type(fault).__name__
    return {"seed": seed, "objects": objects, "error": error}


with ThreadPoolExecutor(8) as pool:
    for line in pool.map(ask, range(FROM, FROM + COUNT)):
        print(json.dumps(line), flush=True)
