/** The order in which calls try deployments unless carbon decides. */
import type { Snapshot, SnapshotDeployment } from './snapshot.ts';

/**
 * Returns the deployments by the preference of their regions, those of one region by their ids. In a region, deployments that are only for
 * fail-over come last.
 */
export function inPreference({
  deployments,
  regions,
}: Pick<Snapshot, 'deployments' | 'regions'>): SnapshotDeployment[] {
  const byPreference = [...regions].sort((a, b) => a.preference - b.preference || (a.code < b.code ? -1 : 1));
  const ranks = new Map(byPreference.map(({ code }, index) => [code, index]));
  const rankOf = ({ region }: SnapshotDeployment) => ranks.get(region) ?? byPreference.length;
  const isSpare = ({ weight }: SnapshotDeployment) => Number(weight === 0);
  return deployments.toSorted((a, b) => rankOf(a) - rankOf(b) || isSpare(a) - isSpare(b) || (a.id < b.id ? -1 : 1));
}
