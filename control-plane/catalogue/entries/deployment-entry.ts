/** Deployments as operators look after them: which models of a provider are served in which region, and how. */
import { fieldError } from '@gw/contract/errors';
import { deploymentFields } from '@gw/contract/internal/catalogue/deployment-fields';
import { type EntryFields, slugSchema } from '@gw/contract/internal/catalogue/field';
import { Prisma } from '@gw/prisma/client';
import { columnsOf, entryBodies, fieldsIn, newFields } from './entry-fields.ts';
import { changeColumns, type EntryKind, type Tx, withGiven, withoutFormerEvidence } from './entry-kind.ts';

const { addBody, changeBody, shown } = entryBodies(deploymentFields, { id: slugSchema });
type DeploymentRow = Prisma.DeploymentGetPayload<object>;

export interface DeploymentEntry extends EntryFields<typeof deploymentFields> {
  readonly id: string;
  readonly object: 'deployment';
}

export const deploymentKind: EntryKind<DeploymentEntry> = {
  name: 'deployment',
  path: '/operator/v1/deployments',
  idOf: ({ id }) => id,
  idSchema: slugSchema,
  addBody,
  changeBody,
  shown,
  added: (body) => {
    const given = addBody.parse(body);
    return { id: slugSchema.parse(given.id), object: 'deployment', ...newFields(deploymentFields, given) };
  },
  changed: (before, body) => {
    const { models: changes, ...rest } = changeBody.parse(body);
    const offered = Object.entries({ ...before.models, ...(changes ?? {}) }).filter(([, name]) => name !== null);
    const after = withGiven(before, { ...rest, models: Object.fromEntries(offered) as Record<string, string> });
    return withoutFormerEvidence(before, after, evidenceOf);
  },
  kept: () => ({}),
  refusal: async (tx, entry) => uselessEvidence(entry) ?? (await unknownParts(tx, entry)),
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
    changes: (tx, id) =>
      tx.deployment.findMany({ where: id === undefined ? {} : { id }, select: { id: true, ...changeColumns } }),
    find: async (tx, id) => {
      const row = await tx.deployment.findUnique({ where: { id } });
      return row && entryOf(row);
    },
    insert: (tx, entry) => tx.deployment.create({ data: { ...dataOf(entry), id: entry.id } }),
    update: (tx, entry) => tx.deployment.update({ where: { id: entry.id }, data: dataOf(entry) }),
    remove: (tx, id) => tx.deployment.delete({ where: { id } }),
  },
};

const evidenceOf = { pue_evidence: ['pue'], wue_evidence: ['wue_onsite_l_per_kwh'] } as const;

const uselessEvidence = ({ wue_evidence: evidence, wue_onsite_l_per_kwh: wue }: DeploymentEntry) =>
  evidence !== null && wue === null
    ? fieldError('wue_evidence', 'wue_evidence: there is no wue_onsite_l_per_kwh that it could be of.')
    : null;

async function unknownParts(tx: Tx, { models: offered, provider, region }: DeploymentEntry) {
  const missing = (field: string, id: string) => fieldError(field, `${field}: the catalogue has no ${id}.`);
  if ((await tx.provider.count({ where: { id: provider } })) === 0) return missing('provider', `provider ${provider}`);
  if ((await tx.region.count({ where: { code: region } })) === 0) return missing('region', `region ${region}`);
  const ids = Object.keys(offered);
  const known = await tx.model.findMany({ where: { id: { in: ids } }, select: { id: true } });
  const unknown = ids.find((id) => !known.some((model) => model.id === id));
  return unknown === undefined ? null : missing('models', `model ${unknown}`);
}

const dataOf = (entry: DeploymentEntry) =>
  ({
    ...columnsOf(deploymentFields, entry),
    // JSON's null is stored as SQL's.
    accelerators: entry.accelerators ?? Prisma.DbNull,
    pueEvidence: entry.pue_evidence ?? Prisma.DbNull,
    wueEvidence: entry.wue_evidence ?? Prisma.DbNull,
  }) as Omit<Prisma.DeploymentUncheckedCreateInput, 'id'>;

const entryOf = (row: DeploymentRow): DeploymentEntry => ({
  id: row.id,
  object: 'deployment',
  ...fieldsIn(deploymentFields, { ...row }),
});
