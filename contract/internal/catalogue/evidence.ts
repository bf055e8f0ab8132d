/**
 * What a figure of the catalogue rests on, in the words of whoever entered it.
 *
 * Invariant: it is plain text of bounded length that no page can take for its own: without markup, control characters or directions of
 * writing, and no address but http(s).
 */
import { z } from 'zod';

/** Where a figure comes from: a text or an address. */
export const sourceSchema = z
  .string()
  .trim()
  .min(1)
  .max(300)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}<>]*$/u, 'must be one line of plain text without < and >')
  .regex(/^(?!(javascript|data|vbscript|file|blob):)/i, 'must be a text, or an address that begins with https://');

const day = String.raw`\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`;
/** The days that the figure is of, the end exclusive. */
const periodSchema = z
  .string()
  .regex(new RegExp(`^${day}/${day}$`), 'must be two days, the second exclusive: 2025-01-01/2026-01-01')
  .refine((period) => {
    const [start = '', end = ''] = period.split('/');
    return isDay(start) && isDay(end) && start < end;
  }, 'must be two days that there are, the first before the second');

/** False for the 30th of February, which a Date takes for a day of March. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const kinds = ['measured', 'reported', 'assumed'] as const;

export const evidenceSchema = z
  .strictObject({
    /** By whoever runs the data centre, in a publication of theirs, or by nobody. */
    kind: z.enum(kinds),
    source: sourceSchema,
    period: periodSchema.nullish().transform((period) => period ?? null),
  })
  .nullable();

/** As it is stored and shown. */
export const evidenceRead = z
  .object({ kind: z.enum(kinds), source: z.string(), period: z.string().nullable() })
  .nullable();

export type Evidence = NonNullable<z.infer<typeof evidenceRead>>;
