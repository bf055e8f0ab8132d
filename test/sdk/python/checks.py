"""The official Python client against the gateway.

Prints one JSON line for each check ({"name", "failure"}, failure null if it held), and a last one with their number, so
that a script that stopped half-way cannot look complete. Its settings come from the environment: GW_TEST_BASE_URL (with
/v1), GW_TEST_KEY, GW_TEST_READ_ONLY_KEY, and GW_TEST_ONE_CALL_KEY, whose account may make one call a day.
"""

import errors  # noqa: F401  registers its checks
import replies  # noqa: F401
from harness import run_all

run_all()
