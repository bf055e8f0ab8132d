"""The official Python clients against the gateway, by the module that the argument names.

Prints what `test/sdk/python/checks.py` prints; `harness.py` of that folder has the settings.
"""

import importlib
import sys

sys.path.insert(0, sys.argv[2])

from harness import run_all  # noqa: E402

importlib.import_module(sys.argv[1])
run_all()
