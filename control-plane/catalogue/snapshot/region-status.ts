/** The status of a region as pinned calls find it: the operator's word, else what is measured of the calls of its deployments. */
import type { RegionObject } from '@gw/contract/catalogue';
import type { DeploymentTrouble } from '@gw/contract/internal/deployment-trouble';
import type { Snapshot, SnapshotRegion } from '@gw/contract/internal/snapshot';
import type { TroubleOf } from './measured-trouble.ts';

type Status = Pick<RegionObject, 'status' | 'status_reason'>;

/**
 * Measured is a region where none of its models can be served; where some cannot, the reason alone says so. It names the models that
 * `isShown` lets be named.
 */
export function regionStatus(
  snapshot: Snapshot,
  { code, status }: SnapshotRegion,
  troubleOf: TroubleOf,
  isShown: (model: string) => boolean,
): Status {
  if (status !== 'active') return { status, status_reason: 'An operator has set it.' };
  const byModel = new Map<string, (DeploymentTrouble | null)[]>();
  for (const { id, models, region } of snapshot.deployments)
    if (region === code)
      for (const model of Object.keys(models))
        byModel.set(model, [...(byModel.get(model) ?? []), troubleOf(id, model)]);
  const shut = [...byModel].filter(([, troubles]) => !troubles.includes(null));
  const isWhole = shut.length === byModel.size;
  const told = isWhole ? shut : shut.filter(([model]) => isShown(model));
  const troubles = told.flatMap(([, each]) => each.flatMap((trouble) => trouble ?? []));
  if (troubles.length === 0) return { status, status_reason: null };
  const models = isWhole ? '' : ` for ${told.map(([model]) => model).join(', ')}`;
  const busy = troubles.filter((trouble) => trouble.status === 'saturated');
  const worst = (busy.length > 0 ? busy : troubles).reduce((a, b) => (a.failures >= b.failures ? a : b));
  const what = busy.length > 0 ? 'reports overload' : 'cannot be reached or answers 502 to 504';
  const last = new Date(worst.at).toISOString();
  const status_reason = `Measured${models}: a provider there ${what}, for ${worst.failures} calls in a row, the last at ${last}.`;
  if (!isWhole) return { status, status_reason };
  return { status: busy.length > 0 ? 'saturated' : 'degraded', status_reason };
}
