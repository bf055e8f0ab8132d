/** The affinity of calls: those of one session are best served by one deployment, whose provider still has the beginning of their prompts. */
import type { JsonObject } from '@gw/contract/internal/strict-json';

/** The words by which a client says that calls belong together. */
export interface Affinity {
  /** The field. */
  readonly by: string;
  /** Its value, at least as far as `affinityLength`. */
  readonly key: string;
}

/** A longer value is as good as its beginning. */
const affinityLength = 256;

/** Returns the affinity by the first of these fields that has a text. */
export function affinityBy(body: JsonObject, fields: readonly string[]): Affinity | null {
  for (const by of fields) {
    const value = body[by];
    if (typeof value === 'string' && value !== '') return { by, key: value.slice(0, affinityLength) };
  }
  return null;
}
