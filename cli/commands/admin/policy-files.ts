/** Rules and samples as they come from files. What they hold is judged by the operator API alone. */
import { Problem } from '@gw/stack/problem';
import { readTextFile } from './text-file.ts';

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
