/** Rules and samples as they come from files. What they hold is judged by the operator API alone. */
import { readFileSync } from 'node:fs';
import { errorText } from '@gw/contract/internal/error-text';
import { Problem } from '@gw/stack/problem';

export function readTextFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Problem(`${file} cannot be read (${errorText(error)}).`);
  }
}

export function readJsonFile(file: string): unknown {
  const text = readTextFile(file);
  try {
    return JSON.parse(text);
  } catch {
    // The parser quotes what it has met, and that may be somebody's text.
    throw new Problem(`${file} is not JSON.`);
  }
}

/** A list of rules, or what `policy show --json` has printed. */
export function readRules(file: string): { readonly rules: unknown; readonly version?: unknown } {
  const value = readJsonFile(file);
  if (Array.isArray(value)) return { rules: value };
  if (typeof value === 'object' && value !== null && 'rules' in value && Array.isArray(value.rules))
    return { rules: value.rules, ...('version' in value ? { version: value.version } : {}) };
  throw new Problem(`${file} holds neither a list of rules nor an object with "rules".`);
}
