/** Checks objects whose `type` says which of their fields is required: content parts, tools, tool calls, formats. */
import type { z } from 'zod';

/**
 * Returns a check for a loose object: `{ text: 'text' }` requires the field `text` if the type is `text`. Other types pass,
 * since other servers have more of them. `absent` is the type of an object that names none.
 */
export function requiredByType(fields: Readonly<Record<string, string>>, absent?: string) {
  const needed = new Map(Object.entries(fields));
  return ({ value, issues }: z.core.ParsePayload<Record<string, unknown>>): void => {
    const type = value.type ?? absent;
    const field = needed.get(String(type));
    if (field === undefined || (value[field] !== undefined && value[field] !== null)) return;
    issues.push({ code: 'custom', path: [field], input: value[field], message: `needed for the type ${type}` });
  };
}
