/** The items of a request. */
import type { JsonObject } from '@gw/contract/internal/strict-json';

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Returns the objects of a list; none for any other value. */
export const listOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Returns the items of `input`; a text is none. */
export const itemsOf = ({ input }: JsonObject): readonly JsonObject[] => listOf(input);
