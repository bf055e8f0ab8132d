/** Regions as operators look after them. */
import type { EntryFields } from '@gw/contract/internal/catalogue/field';
import { regionCodeSchema, regionFields } from '@gw/contract/internal/catalogue/region-fields';
import type { Prisma } from '@gw/prisma/client';
import { columnsOf, entryBodies, fieldsIn, newFields } from './entry-fields.ts';
import { changeColumns, type EntryKind, namesOf, withGiven } from './entry-kind.ts';

const { addBody, changeBody, shown } = entryBodies(regionFields, { code: regionCodeSchema });

export interface RegionEntry extends EntryFields<typeof regionFields> {
  readonly code: string;
  readonly object: 'region';
}

type RegionRow = Prisma.RegionGetPayload<object>;

export const regionKind: EntryKind<RegionEntry> = {
  name: 'region',
  path: '/operator/v1/regions',
  idField: 'code',
  idOf: ({ code }) => code,
  idSchema: regionCodeSchema,
  addBody,
  changeBody,
  shown,
  added: (body) => {
    const given = addBody.parse(body);
    return { code: regionCodeSchema.parse(given.code), object: 'region', ...newFields(regionFields, given) };
  },
  changed: (before, body) => withGiven(before, changeBody.parse(body)),
  // Where a file says nothing of it, what an operator has said at night holds.
  kept: ({ status }, body) => (addBody.parse(body).status === undefined ? { status } : {}),
  refusal: async () => null,
  usedBy: async (tx, code) => {
    const found = await tx.deployment.findMany({ where: { regionCode: code }, orderBy: { id: 'asc' } });
    return found.length === 0 ? null : `deployments are in it: ${namesOf(found.map(({ id }) => id))}`;
  },
  warnings: ({ grid_zone: zone }, { knowsZone }) =>
    knowsZone(zone) ? [] : [`No carbon intensity is known for the zone ${zone}: receipts of this region are degraded.`],
  rows: {
    list: async (tx) => (await tx.region.findMany({ orderBy: [{ preference: 'asc' }, { code: 'asc' }] })).map(entryOf),
    changes: async (tx, code) => {
      const rows = await tx.region.findMany({
        where: code === undefined ? {} : { code },
        select: { code: true, ...changeColumns },
      });
      return rows.map(({ code: id, ...row }) => ({ id, ...row }));
    },
    find: async (tx, code) => {
      const row = await tx.region.findUnique({ where: { code } });
      return row && entryOf(row);
    },
    insert: (tx, entry) => tx.region.create({ data: { ...dataOf(entry), code: entry.code } }),
    update: (tx, entry) => tx.region.update({ where: { code: entry.code }, data: dataOf(entry) }),
    remove: (tx, code) => tx.region.delete({ where: { code } }),
  },
};

const dataOf = (entry: RegionEntry) => columnsOf(regionFields, entry) as Omit<RegionRow, 'code'>;

const entryOf = (row: RegionRow): RegionEntry => ({
  code: row.code,
  object: 'region',
  ...fieldsIn(regionFields, { ...row }),
});
