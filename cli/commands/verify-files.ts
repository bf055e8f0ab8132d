/** The files that `./gw verify` is given. */
import { readFileSync } from 'node:fs';
import { errorText } from '@gw/contract/internal/error-text';
import { parseStrictJson } from '@gw/contract/internal/strict-json';
import { Problem } from '@gw/stack/problem';

export function bytesIn(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Problem(`${file} cannot be read: ${errorText(error)}`);
  }
}

/** Parses strictly, as packs are read. */
export function read(file: string): unknown {
  const bytes = bytesIn(file);
  const parsed = parseStrictJson(bytes, Number.POSITIVE_INFINITY);
  if (!parsed.ok) throw new Problem(`${file} cannot be read as JSON: ${parsed.error.problem}`);
  return parsed.value;
}
