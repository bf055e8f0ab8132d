/** Reads rules, drafts and findings whose form the API or a file does not guarantee. */
import type { ChainEntry, PolicyRule, StoredRule } from '../../../api/types.ts';

export interface ReadDraft {
  readonly rules: PolicyRule[];
  /** The version that the rules were made from, where the text says so. */
  readonly version: number | null;
}

/** Reads a list of rules, or a version of them as the shell writes it; null for anything else. */
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

const screens = ['dual_use', 'acceptable_use'] as const;
const actions = ['block', 'flag'] as const;
const failures = ['pass', 'block'] as const;
const oneOf = <T>(values: readonly T[], value: unknown): T | undefined => values.find((each) => each === value);

/** Returns null for a stored rule whose form this release does not know; it is then shown as it is. */
export function ruleOf(stored: StoredRule): PolicyRule | null {
  const { enabled, id, kind, title } = stored;
  const screen = oneOf(screens, stored.screen);
  const action = oneOf(actions, stored.action);
  if (typeof title !== 'string' || typeof enabled !== 'boolean' || !screen || !action) return null;
  const head = { id, title, screen, action, enabled };
  if (kind === 'pattern') {
    const { needs, pattern } = stored;
    return typeof pattern === 'string' && isTexts(needs) ? { ...head, kind, pattern, needs } : null;
  }
  if (kind === 'classifier') {
    const { categories, threshold } = stored;
    const on_failure = oneOf(failures, stored.on_failure);
    const isScore = threshold === undefined || typeof threshold === 'number';
    if (!on_failure || !isScore || !isTextsOrNone(categories)) return null;
    return {
      ...head,
      kind,
      on_failure,
      ...(categories && { categories }),
      ...(threshold !== undefined && { threshold }),
    };
  }
  const { before, phrases, unless } = stored;
  if (kind !== 'phrases' || !isTexts(phrases) || !isTextsOrNone(unless) || !isTextsOrNone(before)) return null;
  return { ...head, kind, phrases, ...(unless && { unless }), ...(before && { before }) };
}

export const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
const isTextsOrNone = (value: unknown): value is string[] | undefined => value === undefined || isTexts(value);

export interface Finding {
  readonly code: string | null;
  readonly ruleIds: readonly string[];
  readonly calls: readonly FoundCall[];
}

export interface FoundCall {
  readonly at: string;
  readonly requestId: string;
}

/** Reads a screening finding from an entry of the audit log. An entry of another release may say less. */
export function findingOf({ after }: Pick<ChainEntry, 'after'>): Finding {
  const { calls, code, rule_ids: ruleIds } = fieldsOf(after);
  return {
    code: typeof code === 'string' ? code : null,
    ruleIds: isTexts(ruleIds) ? ruleIds : [],
    calls: Array.isArray(calls) ? calls.flatMap(callOf) : [],
  };
}

function callOf(call: unknown): FoundCall[] {
  const { at, request_id: requestId } = fieldsOf(call);
  return typeof at === 'string' && typeof requestId === 'string' ? [{ at, requestId }] : [];
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
