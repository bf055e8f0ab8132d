/** Reads a screening finding from an entry of the audit log. An entry of another release may say less. */
import type { ChainEntry } from '../../../api/types.ts';
import { isTexts } from './rule-of.ts';

export interface Finding {
  readonly code: string | null;
  readonly ruleIds: readonly string[];
  readonly calls: readonly FoundCall[];
}

export interface FoundCall {
  readonly at: string;
  readonly requestId: string;
}

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
