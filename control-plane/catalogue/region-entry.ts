/** Regions as operators look after them. */

import { countryComplaint, countrySchema } from '@gw/contract/countries';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { nameSchema } from '../people/access/fields.ts';
import { type EntryKind, namesOf, withGiven } from './entry-kind.ts';

const codeSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be small letters, digits and dashes');
const fields = z.strictObject({
  name: nameSchema,
  country: z.string().refine((code) => code === 'unknown' || countrySchema.safeParse(code).success, {
    error: ({ input }) => `${countryComplaint(String(input))}, nor "unknown"`,
  }),
  grid_zone: z.string().regex(/^[A-Za-z0-9_-]{2,32}$/, 'must be a zone like SWE'),
  status: z.enum(['active', 'degraded', 'saturated', 'decommissioned']),
  preference: z.int().min(0).max(1_000_000),
});
const addBody = fields.partial({ status: true, preference: true }).extend({ code: codeSchema });
const changeBody = fields.partial();

export interface RegionEntry extends z.infer<typeof fields> {
  readonly code: string;
  readonly object: 'region';
}

/** Behind those that somebody has put into an order. */
const lastPreference = 100;

export const regionKind: EntryKind<RegionEntry> = {
  name: 'region',
  path: '/operator/v1/regions',
  idOf: ({ code }) => code,
  idSchema: codeSchema,
  addBody,
  changeBody,
  added: (body) => {
    const { status = 'active', preference = lastPreference, code, ...rest } = addBody.parse(body);
    return { code, object: 'region', ...rest, status, preference };
  },
  changed: (before, body) => withGiven(before, changeBody.parse(body)),
  refusal: async () => null,
  usedBy: async (tx, code) => {
    const found = await tx.deployment.findMany({ where: { regionCode: code }, orderBy: { id: 'asc' } });
    return found.length === 0 ? null : `deployments are in it: ${namesOf(found.map(({ id }) => id))}`;
  },
  warnings: ({ grid_zone: zone }, { knowsZone }) =>
    knowsZone(zone) ? [] : [`No carbon intensity is known for the zone ${zone}: receipts of this region are degraded.`],
  rows: {
    list: async (tx) => (await tx.region.findMany({ orderBy: [{ preference: 'asc' }, { code: 'asc' }] })).map(entryOf),
    find: async (tx, code) => {
      const row = await tx.region.findUnique({ where: { code } });
      return row && entryOf(row);
    },
    insert: (tx, entry) => tx.region.create({ data: { ...dataOf(entry), code: entry.code } }),
    update: (tx, entry) => tx.region.update({ where: { code: entry.code }, data: dataOf(entry) }),
    remove: (tx, code) => tx.region.delete({ where: { code } }),
  },
};

const dataOf = ({ country, grid_zone: gridZone, name, preference, status }: RegionEntry) => ({
  name,
  country,
  gridZone,
  status,
  preference,
});

const entryOf = (row: Prisma.RegionGetPayload<object>): RegionEntry => ({
  code: row.code,
  object: 'region',
  name: row.name,
  country: row.country,
  grid_zone: row.gridZone,
  status: row.status,
  preference: row.preference,
});
