/** The fields of a region. */
import { z } from 'zod';
import { countryComplaint, countrySchema } from '../../countries.ts';
import { type FieldTable, nameSchema } from './field.ts';

export const regionCodeSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be small letters, digits and dashes');
export const regionCodeDoc = 'clients send it';

const status = z.enum(['active', 'degraded', 'saturated', 'decommissioned']);

export const regionFields = {
  name: { entry: nameSchema, snapshot: z.string(), needed: true, option: 'name', help: 'for people' },
  country: {
    entry: z.string().refine((code) => code === 'unknown' || countrySchema.safeParse(code).success, {
      error: ({ input }) => `${countryComplaint(String(input))}, nor "unknown"`,
    }),
    shown: z.string(),
    snapshot: z.string(),
    needed: true,
    option: 'country',
    help: 'ISO 3166-1 alpha-2 code, or unknown',
  },
  grid_zone: {
    entry: z.string().regex(/^[A-Za-z0-9_-]{2,32}$/, 'must be a zone like SWE'),
    snapshot: z.string(),
    needed: true,
    option: 'zone',
    help: 'zone of the electricity grid, for example SWE',
    doc: 'ISO 3166-1 alpha-3, or `US-OR`, `CA-QC` …, for the yearly averages; or a zone of [a live source](grid.md)',
  },
  status: {
    entry: status,
    snapshot: status,
    otherwise: 'active',
    option: 'status',
    help: 'active, degraded, saturated or decommissioned',
    doc: '`active`, `degraded`, `saturated` or `decommissioned`: only an active one takes calls',
  },
  preference: {
    entry: z.int().min(0).max(1_000_000),
    snapshot: z.int(),
    // The default sorts after all regions with a preference of their own.
    otherwise: 100,
    option: 'preference',
    form: 'number',
    help: 'lower comes first; 100 unless given',
  },
} as const satisfies FieldTable;
