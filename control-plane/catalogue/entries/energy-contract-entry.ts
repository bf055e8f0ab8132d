/**
 * The electricity that operators have bought: contracts, certificates and residual mixes, for figures by the market-based method.
 *
 * Invariants: of no call is more covered than its energy, and no call has two residual mixes. Both are checked over all entries that a
 * new or changed one can meet, at each hour at which one of them begins.
 */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { slugSchema } from '@gw/contract/internal/catalogue/field';
import type { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { changeColumns, type EntryKind, withGiven } from './entry-kind.ts';
import { decimalSchema, hourSchema, hourText, plainDecimal, sourceSchema } from './figures.ts';

const instruments = ['ppa', 'supplier', 'certificate', 'residual_mix'] as const;

const fields = {
  provider: slugSchema.nullable().optional().describe('id of the provider whose calls it covers; null: of all'),
  region: slugSchema.nullable().optional().describe('code of the region whose calls it covers; null: all'),
  valid_from: hourSchema.describe('from when on, a whole UTC hour; it may be past'),
  valid_to: hourSchema.describe('until before when, a whole UTC hour'),
  instrument: z
    .enum(instruments)
    .describe('`ppa`, `supplier` or `certificate`; or `residual_mix`, which is for what no other covers'),
  share: decimalSchema
    .nullable()
    .optional()
    .describe('how much of the energy it covers, above 0 and up to 1; none for a residual mix'),
  g_per_kwh: decimalSchema.describe('gCO2e/kWh of the electricity that was bought'),
  evidence: sourceSchema.describe('what it rests on: a text or an address, such as that of the cancelled certificates'),
};
const addBody = z.strictObject({ id: slugSchema.describe('a name that you choose'), ...fields });
const changeBody = z.strictObject(fields).partial();
const shown = z.strictObject({
  id: z.string(),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  valid_from: z.iso.datetime(),
  valid_to: z.iso.datetime(),
  instrument: z.enum(instruments),
  share: z.string().nullable().describe('A decimal'),
  g_per_kwh: z.string().describe('A decimal'),
  evidence: z.string(),
});

export interface EnergyContract extends z.infer<typeof shown> {
  readonly object: 'energy_contract';
}

const written = (share: string | number | null | undefined): string | null =>
  share === null || share === undefined ? null : plainDecimal(share);

export const energyContractKind: EntryKind<EnergyContract> = {
  name: 'energy_contract',
  path: '/operator/v1/energy-contracts',
  idOf: ({ id }) => id,
  idSchema: slugSchema,
  addBody,
  changeBody,
  shown,
  added: (body) => {
    const { evidence, g_per_kwh, id, instrument, provider, region, share, valid_from, valid_to } = addBody.parse(body);
    return {
      id,
      object: 'energy_contract',
      provider: provider ?? null,
      region: region ?? null,
      valid_from: hourText(valid_from),
      valid_to: hourText(valid_to),
      instrument,
      share: written(share),
      g_per_kwh: plainDecimal(g_per_kwh),
      evidence,
    };
  },
  changed: (before, body) => {
    const { g_per_kwh, share, valid_from, valid_to, ...others } = changeBody.parse(body);
    return withGiven(before, {
      ...others,
      ...(share !== undefined && { share: written(share) }),
      ...(g_per_kwh !== undefined && { g_per_kwh: plainDecimal(g_per_kwh) }),
      ...(valid_from !== undefined && { valid_from: hourText(valid_from) }),
      ...(valid_to !== undefined && { valid_to: hourText(valid_to) }),
    });
  },
  kept: () => ({}),
  refusal: async (tx, entry) => wrongEntry(entry) ?? tooMuch(entry, (await tx.energyContract.findMany()).map(entryOf)),
  isJudgedTogether: true,
  usedBy: async () => null,
  warnings: () => [],
  rows: {
    list: async (tx) => (await tx.energyContract.findMany({ orderBy: { id: 'asc' } })).map(entryOf),
    changes: (tx, id) =>
      tx.energyContract.findMany({ where: id === undefined ? {} : { id }, select: { id: true, ...changeColumns } }),
    find: async (tx, id) => {
      const row = await tx.energyContract.findUnique({ where: { id } });
      return row && entryOf(row);
    },
    insert: (tx, entry) => tx.energyContract.create({ data: { id: entry.id, ...dataOf(entry) } }),
    update: (tx, entry) => tx.energyContract.update({ where: { id: entry.id }, data: dataOf(entry) }),
    remove: (tx, id) => tx.energyContract.delete({ where: { id } }),
  },
};

function wrongEntry({ instrument, provider, region, share, valid_from, valid_to }: EnergyContract): ApiError | null {
  if (provider === null && region === null)
    return fieldError('provider', 'provider: name a provider, a region or both: nothing covers all calls there are.');
  if (valid_from >= valid_to) return fieldError('valid_to', 'valid_to: must be after valid_from.');
  if (instrument === 'residual_mix')
    return share === null
      ? null
      : fieldError('share', 'share: a residual mix has none; it is for what no other covers.');
  if (share === null) return fieldError('share', `share: is needed: how much of the energy the ${instrument} covers.`);
  if (Number(share) > 0 && Number(share) <= 1) return null;
  return fieldError('share', 'share: has to be above 0 and at most 1.');
}

type ContractSite = Pick<EnergyContract, 'provider' | 'region'>;
const meets = (a: string | null, b: string | null): boolean => a === null || b === null || a === b;
const covers = (contract: EnergyContract, place: ContractSite, at: string): boolean =>
  (contract.provider === null || contract.provider === place.provider) &&
  (contract.region === null || contract.region === place.region) &&
  contract.valid_from <= at &&
  at < contract.valid_to;

/** Returns what is wrong with an entry beside the others; null if nothing is. */
function tooMuch(entry: EnergyContract, all: readonly EnergyContract[]): ApiError | null {
  const isResidual = entry.instrument === 'residual_mix';
  const rivals = all.filter(
    (other) =>
      other.id !== entry.id &&
      (other.instrument === 'residual_mix') === isResidual &&
      meets(other.provider, entry.provider) &&
      meets(other.region, entry.region) &&
      other.valid_from < entry.valid_to &&
      entry.valid_from < other.valid_to,
  );
  const both = [entry, ...rivals];
  const choices = (own: string | null, of: 'provider' | 'region') =>
    own === null ? [null, ...new Set(rivals.flatMap((rival) => rival[of] ?? []))] : [own];
  for (const provider of choices(entry.provider, 'provider'))
    for (const region of choices(entry.region, 'region'))
      for (const { valid_from: at } of both) {
        const meeting = both.filter((each) => covers(each, { provider, region }, at));
        if (!meeting.includes(entry) || meeting.length < 2) continue;
        const names = meeting
          .slice(1)
          .map(({ id }) => id)
          .join(', ');
        if (isResidual)
          return fieldError(
            'region',
            `region: of the same calls there is a residual mix already from ${at} on: ${names}.`,
          );
        if (millionths(meeting) > 10n ** 12n)
          return fieldError('share', `share: together with ${names} it covers more than all energy from ${at} on.`);
      }
  return null;
}

/** The sum of the shares, exactly: they have at most 12 decimal places. */
const millionths = (contracts: readonly EnergyContract[]): bigint =>
  contracts.reduce((sum, { share }) => {
    const [whole = '0', fraction = ''] = (share ?? '0').split('.');
    return sum + BigInt(whole + fraction.padEnd(12, '0'));
  }, 0n);

type ContractRow = Prisma.EnergyContractGetPayload<object>;

const entryOf = (row: ContractRow): EnergyContract => ({
  id: row.id,
  object: 'energy_contract',
  provider: row.provider,
  region: row.region,
  valid_from: hourText(row.validFrom),
  valid_to: hourText(row.validTo),
  // A constraint of the table admits no other.
  instrument: z.enum(instruments).parse(row.instrument),
  share: row.share?.toFixed() ?? null,
  g_per_kwh: row.gPerKwh.toFixed(),
  evidence: row.evidence,
});

const dataOf = ({
  evidence,
  g_per_kwh,
  instrument,
  provider,
  region,
  share,
  valid_from,
  valid_to,
}: EnergyContract) => ({
  provider,
  region,
  validFrom: new Date(valid_from),
  validTo: new Date(valid_to),
  instrument,
  share,
  gPerKwh: g_per_kwh,
  evidence,
});
