"""The official Python client, told to retry three times, against each of the addresses given.

Reads {"name": {"base_url", "api_key"}} from standard input; prints {"name": code of the error, or "200"} as one JSON line.
"""

import asyncio
import json
import sys

import openai

MESSAGES = [{"role": "user", "content": "Hello"}]
QUICK = {"x-sim-tokens-per-second": "0"}


async def outcome(where):
    async with openai.AsyncOpenAI(**where, max_retries=3, default_headers=QUICK) as client:
        try:
            await client.chat.completions.create(model="sim-small", messages=MESSAGES)
        except openai.APIStatusError as error:
            return error.code
        return "200"


async def main():
    wanted = json.load(sys.stdin)
    outcomes = await asyncio.gather(*(outcome(where) for where in wanted.values()))
    print(json.dumps(dict(zip(wanted, outcomes))))


asyncio.run(main())
