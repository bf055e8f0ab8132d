/**
 * The evidence for a figure of the catalogue, as entered by an operator.
 *
 * Invariant: it is plain text of bounded length that is safe to show: no markup, no control or bidirectional characters, and no URL
 * other than http(s).
 */
import { z } from 'zod';

export const sourceSchema = z
  .string()
  .trim()
  .min(1)
  .max(300)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}<>]*$/u, 'must be one line of plain text without < and >')
  .regex(/^(?!(javascript|data|vbscript|file|blob):)/i, 'must be a text, or an address that begins with https://');

const day = String.raw`\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`;
/** The days that the figure covers, the end exclusive. */
const periodSchema = z
  .string()
  .regex(new RegExp(`^${day}/${day}$`), 'must be two days, the second exclusive: 2025-01-01/2026-01-01')
  .refine((period) => {
    const [start = '', end = ''] = period.split('/');
    return isDay(start) && isDay(end) && start < end;
  }, 'must be two days that there are, the first before the second');

/** False for the 30th of February, which Date reads as a day of March. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const kinds = ['measured', 'reported', 'assumed'] as const;

export const evidenceSchema = z
  .strictObject({
    /** Measured by the operator of the data centre, reported in its publications, or assumed. */
    kind: z.enum(kinds),
    source: sourceSchema,
    period: periodSchema.nullish().transform((period) => period ?? null),
  })
  .nullable();

/** The stored form. */
export const evidenceRead = z
  .object({ kind: z.enum(kinds), source: z.string(), period: z.string().nullable() })
  .nullable();

export type Evidence = NonNullable<z.infer<typeof evidenceRead>>;
