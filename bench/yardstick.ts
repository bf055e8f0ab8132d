/**
 * Work that no change of ours makes faster or slower: what a limit of a step means on a machine that is slower than the
 * one that it was set on, or busy, is its share of this. Another release of Node may: then the reference is set anew, by
 * what the two take in turns.
 */
import { hash } from 'node:crypto';

/** The sample resembles the work of a call: JSON of a few kilobytes, and its digest. */
const sample = JSON.stringify(
  Array.from({ length: 24 }, (_, at) => ({
    id: `item-${at}`,
    text: 'The same words, again and again. '.repeat(3),
    share: at / 7,
    parts: { first: at, second: null, third: [true, false] },
  })),
);

/** The processor time of the yardstick in µs, on the machine and at the hour that the limits are meant for. */
export const yardstickReferenceUs = 27;

export function yardstick(): string {
  return hash('sha256', JSON.stringify(JSON.parse(sample)), 'base64url');
}
