import type { Deployment, Region } from '../../../api/types.ts';

/** Returns the ids of models that no active region but this one serves. */
export function servedAlone(
  code: string,
  regions: readonly Pick<Region, 'code' | 'status'>[],
  deployments: readonly Pick<Deployment, 'models' | 'region'>[],
): readonly string[] {
  const others = new Set(regions.filter((each) => each.status === 'active' && each.code !== code).map((r) => r.code));
  const offeredIn = (isThere: (region: string) => boolean) =>
    new Set(deployments.filter(({ region }) => isThere(region)).flatMap(({ models }) => Object.keys(models)));
  const elsewhere = offeredIn((region) => others.has(region));
  return [...offeredIn((region) => region === code)].filter((id) => !elsewhere.has(id)).sort();
}
