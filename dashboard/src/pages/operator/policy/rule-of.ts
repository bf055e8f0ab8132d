/**
 * Reads what is stored as a rule of this release. Another release may have written it: what does not have the form is
 * shown as it is, not guessed at.
 */
import type { PolicyRule, StoredRule } from '../../../api/types.ts';

const screens = ['dual_use', 'acceptable_use'] as const;
const actions = ['block', 'flag'] as const;
const oneOf = <T>(values: readonly T[], value: unknown): T | undefined => values.find((each) => each === value);

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
  const { before, phrases, unless } = stored;
  if (kind !== 'phrases' || !isTexts(phrases) || !isTextsOrNone(unless) || !isTextsOrNone(before)) return null;
  return { ...head, kind, phrases, ...(unless && { unless }), ...(before && { before }) };
}

export const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
const isTextsOrNone = (value: unknown): value is string[] | undefined => value === undefined || isTexts(value);
