/** Objects whose `type` says which of their fields has to be there: content parts, tools, calls of tools, formats. */
import type { z } from 'zod';

/**
 * A check for a loose object: `{ text: 'text' }` demands the field `text` where the type is `text`. Types that are not named
 * pass, since other servers have more of them. `absent`: the type of an object that names none.
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
