"""What the scripts that build the bundled tables share."""
import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
ECOLOGITS = "ecologits-0.11.3-py3-none-any.whl"
CARBONTRACKER = "carbontracker-2.4.7-py3-none-any.whl"
CODECARBON = "codecarbon-3.3.2-py3-none-any.whl"
SHA256 = {
    ECOLOGITS: "c477b77a95c65abbc0ed475b62708ce64ada871b675df0261f345296b0a6facd",
    CARBONTRACKER: "b83395096344f6466d526e4f20c12d38bafbfc0a56fd793085b1ac7df8a0aa0f",
    CODECARBON: "05b31dea9dd26ed1e90947973c9ef20c87d127ea71fc32b4cb55a3ec512b8897",
}
# The notice that the licence asks for begins so.
MPL = (
    "This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not "
    "distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/. Extracted from EcoLogits 0.11.3 "
    "({file}, https://github.com/mlco2/ecologits, doi:10.21105/joss.07471)"
)


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
