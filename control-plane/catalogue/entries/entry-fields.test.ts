import { aliasFields } from '@gw/contract/internal/catalogue/alias-fields';
import { deploymentFields } from '@gw/contract/internal/catalogue/deployment-fields';
import type { FieldTable } from '@gw/contract/internal/catalogue/field';
import { modelFields } from '@gw/contract/internal/catalogue/model-fields';
import { providerFields } from '@gw/contract/internal/catalogue/provider-fields';
import { regionFields } from '@gw/contract/internal/catalogue/region-fields';
import { Prisma } from '@gw/prisma/client';
import { expect, test } from 'vitest';
import { columnsOf } from './entry-fields.ts';

/** Written by a trigger. */
const noted = ['changedIn', 'changedAt', 'changedBy'];

const columns: [kind: string, table: FieldTable, columns: object, notFields: readonly string[]][] = [
  ['model', modelFields, Prisma.ModelScalarFieldEnum, ['id', 'createdAt', ...noted]],
  ['region', regionFields, Prisma.RegionScalarFieldEnum, ['code', ...noted]],
  ['provider', providerFields, Prisma.ProviderScalarFieldEnum, ['id']],
  ['deployment', deploymentFields, Prisma.DeploymentScalarFieldEnum, ['id', ...noted]],
  ['alias', aliasFields, Prisma.AliasScalarFieldEnum, ['id', 'createdAt']],
];
test.each(columns)(
  'each column of a %s is that of one field, and each field has one',
  (_kind, table, all, notFields) => {
    const entry = Object.fromEntries(Object.keys(table).map((name) => [name, null]));
    const of = [...notFields, ...Object.keys(columnsOf(table, entry))];
    expect(of.toSorted()).toEqual(Object.keys(all).toSorted());
  },
);
