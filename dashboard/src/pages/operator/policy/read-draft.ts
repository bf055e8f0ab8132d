/** Reads a draft as people have it: a list of rules, or a version of them as the shell writes it. */
import type { PolicyRule } from '../../../api/types.ts';

export interface ReadDraft {
  readonly rules: PolicyRule[];
  /** The version that the rules were made from, where the text says so. */
  readonly version: number | null;
}

/** Returns null for what is neither. */
export function readDraft(text: string): ReadDraft | null {
  const value = parsed(text);
  if (isRules(value)) return { rules: value, version: null };
  if (typeof value !== 'object' || value === null || !('rules' in value) || !isRules(value.rules)) return null;
  const version = 'version' in value && typeof value.version === 'number' ? value.version : null;
  return { rules: value.rules, version };
}

/** The gateway judges the content of the rules: it names the field that is wrong. */
const isRules = (value: unknown): value is PolicyRule[] => Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Texts with an empty line between two. */
export const samplesIn = (text: string): string[] =>
  text
    .split(/\n\s*\n/)
    .map((sample) => sample.trim())
    .filter((sample) => sample !== '');
