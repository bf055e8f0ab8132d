/** Deployments as operators look after them: which models of a provider are served in which region, and how. */
import { fieldError } from '@gw/contract/errors';
import { acceleratorsSchema } from '@gw/contract/internal/snapshot';
import type { TelemetrySource } from '@gw/methodology/telemetry/reading';
import { Prisma } from '@gw/prisma/client';
import { z } from 'zod';
import { nameSchema } from '../people/access/fields.ts';
import { type EntryKind, slug, type Tx, withGiven } from './entry-kind.ts';
import { modelIdSchema } from './model-entry.ts';

/** It stands in the names of Envoy's clusters. */
const idSchema = z.string().regex(slug, 'must be at most 63 letters, digits, dashes and underscores');

/** By the compiler: all there are. */
const shapes: Readonly<Record<TelemetrySource, true>> = {
  neuralwatt: true,
  greenpt: true,
  melious: true,
  ecologits_impacts: true,
  energy_header: true,
  gpu_counters: true,
};
export const telemetryShapes = Object.keys(shapes) as readonly TelemetrySource[];

const isOffer = (value: unknown, isName: (name: unknown) => boolean): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length <= 500 &&
  Object.entries(value).every(([id, name]) => modelIdSchema.safeParse(id).success && isName(name));
const isName = (name: unknown): boolean => nameSchema.safeParse(name).success;

/** One check for the whole, so that no code of an error is made from the id of a model. */
const models = z.custom<Readonly<Record<string, string>>>(
  (value) => isOffer(value, isName),
  'must be an object: public model id → the name that the provider knows it by',
);
/** Null takes a model out; the others stay. */
const modelChanges = z.custom<Readonly<Record<string, string | null>>>(
  (value) => isOffer(value, (name) => name === null || isName(name)),
  'must be an object: public model id → the name that the provider knows it by, or null to take it out',
);
const fields = z.strictObject({
  provider: z.string().max(100),
  region: z.string().max(100),
  pue: z.number().min(1).max(10),
  wue_onsite_l_per_kwh: z.number().min(0).max(100).nullable(),
  telemetry: z.enum(telemetryShapes).nullable(),
  accelerators: acceleratorsSchema
    .strict()
    .extend({ model: nameSchema.max(100), count: z.int().min(1).max(1_000_000) })
    .nullable(),
});
const addBody = fields
  .partial({ wue_onsite_l_per_kwh: true, telemetry: true, accelerators: true })
  .extend({ id: idSchema, models });
const changeBody = fields.partial().extend({ models: modelChanges.optional() });

export interface DeploymentEntry extends z.infer<typeof fields> {
  readonly id: string;
  readonly object: 'deployment';
  /** Public model id → the name that the provider knows it by. */
  readonly models: Readonly<Record<string, string>>;
}

export const deploymentKind: EntryKind<DeploymentEntry> = {
  name: 'deployment',
  path: '/operator/v1/deployments',
  idOf: ({ id }) => id,
  idSchema,
  addBody,
  changeBody,
  added: (body) => {
    const { accelerators = null, id, telemetry = null, wue_onsite_l_per_kwh = null, ...rest } = addBody.parse(body);
    return { id, object: 'deployment', ...rest, wue_onsite_l_per_kwh, telemetry, accelerators };
  },
  changed: (before, body) => {
    const { models: changes = {}, ...rest } = changeBody.parse(body);
    const offered = Object.entries({ ...before.models, ...changes }).filter(([, name]) => name !== null);
    return withGiven(before, { ...rest, models: Object.fromEntries(offered) as Record<string, string> });
  },
  refusal: unknownParts,
  // Receipts keep what they need of it.
  usedBy: async () => null,
  warnings: ({ id, models: offered, telemetry }, { gpuDeployments }) => [
    ...(Object.keys(offered).length === 0 ? ['It offers no model: no call goes there.'] : []),
    ...(telemetry === 'gpu_counters' && !gpuDeployments.has(id)
      ? ['GW_GPU_COUNTERS of this control plane does not name it: its energy is not measured.']
      : []),
  ],
  rows: {
    list: async (tx) => (await tx.deployment.findMany({ orderBy: { id: 'asc' } })).map(entryOf),
    find: async (tx, id) => {
      const row = await tx.deployment.findUnique({ where: { id } });
      return row && entryOf(row);
    },
    insert: (tx, entry) => tx.deployment.create({ data: { ...dataOf(entry), id: entry.id } }),
    update: (tx, entry) => tx.deployment.update({ where: { id: entry.id }, data: dataOf(entry) }),
    remove: (tx, id) => tx.deployment.delete({ where: { id } }),
  },
};

async function unknownParts(tx: Tx, { models: offered, provider, region }: DeploymentEntry) {
  const missing = (field: string, id: string) => fieldError(field, `${field}: the catalogue has no ${id}.`);
  if ((await tx.provider.count({ where: { id: provider } })) === 0) return missing('provider', `provider ${provider}`);
  if ((await tx.region.count({ where: { code: region } })) === 0) return missing('region', `region ${region}`);
  const ids = Object.keys(offered);
  const known = await tx.model.findMany({ where: { id: { in: ids } }, select: { id: true } });
  const unknown = ids.find((id) => !known.some((model) => model.id === id));
  return unknown === undefined ? null : missing('models', `model ${unknown}`);
}

const dataOf = (entry: DeploymentEntry) => ({
  providerId: entry.provider,
  regionCode: entry.region,
  models: { ...entry.models },
  pue: entry.pue,
  wueOnsiteLPerKwh: entry.wue_onsite_l_per_kwh,
  telemetry: entry.telemetry,
  accelerators: entry.accelerators === null ? Prisma.DbNull : { ...entry.accelerators },
});

const entryOf = (row: Prisma.DeploymentGetPayload<object>): DeploymentEntry => ({
  id: row.id,
  object: 'deployment',
  provider: row.providerId,
  region: row.regionCode,
  models: row.models as Record<string, string>,
  pue: row.pue,
  wue_onsite_l_per_kwh: row.wueOnsiteLPerKwh,
  telemetry: row.telemetry as DeploymentEntry['telemetry'],
  accelerators: row.accelerators as DeploymentEntry['accelerators'],
});
