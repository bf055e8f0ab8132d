/**
 * Writes a whole reply as the stream that a provider would have sent: for each choice what it says and then why it ended, the usage on a
 * chunk of its own, and the end.
 */
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { dataEvent } from '../../wire/write-events.ts';

/** Fields that each chunk repeats; all others of the reply stand on the first chunk alone, since they can be long. */
const repeated = ['id', 'created', 'model', 'system_fingerprint', 'service_tier'];

/** The parts of a choice that differ between the APIs. */
export interface ChoiceForm {
  /** Returns what a choice says, as a chunk has it. */
  said(choice: JsonObject): JsonObject;
  /** A choice in which nothing is said any more. */
  readonly nothing: JsonObject;
}

export function wholeAsChunks(reply: JsonObject, object: string, form: ChoiceForm, end: Buffer): Buffer {
  const { choices, usage, ...others } = reply;
  const all: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const first = { ...others, object };
  const later = { ...Object.fromEntries(repeated.map((name) => [name, reply[name]])), object };
  const events: Buffer[] = [];
  const add = (rest: JsonObject) =>
    events.push(dataEvent(JSON.stringify({ ...(events.length === 0 ? first : later), ...rest })));
  const known = all.filter(isObject).map((choice, index): JsonObject => ({ index, ...choice }));
  for (const choice of known) add({ choices: [{ ...form.said(choice), finish_reason: null }] });
  for (const { index, finish_reason } of known) add({ choices: [{ index, ...form.nothing, finish_reason }] });
  if (usage) add({ choices: [], usage });
  return Buffer.concat([...events, end]);
}

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** A message becomes a delta, whose tool calls have an index. */
export const chatChoice: ChoiceForm = {
  said: ({ message, ...choice }) => {
    const delta = isObject(message) ? message : {};
    const { tool_calls: calls } = delta;
    if (!Array.isArray(calls)) return { ...choice, delta };
    return { ...choice, delta: { ...delta, tool_calls: calls.map((call: object, index) => ({ index, ...call })) } };
  },
  nothing: { delta: {} },
};

export const textChoice: ChoiceForm = { said: (choice) => choice, nothing: { text: '' } };
