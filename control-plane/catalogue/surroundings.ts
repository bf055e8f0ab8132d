/**
 * What this process knows beyond the catalogue. Other instances may be configured differently, so it gives warnings and
 * no refusals.
 */
import { annualReading } from '@gw/methodology/grid-annual';
import type { Config } from '../config.ts';

export interface Surroundings {
  /** Names of the credentials in the environment. */
  readonly credentials: ReadonlySet<string>;
  /** Deployments whose counters are configured. */
  readonly gpuDeployments: ReadonlySet<string>;
  /** Whether a carbon intensity of the grid zone is known: from a live source or as a yearly average. */
  readonly knowsZone: (zone: string) => boolean;
}

export function surroundingsOf({ credentials, gpu, grid }: Pick<Config, 'credentials' | 'gpu' | 'grid'>): Surroundings {
  const live = new Set(grid.sources.map(({ zone }) => zone));
  return {
    credentials: new Set(credentials.keys()),
    gpuDeployments: new Set(gpu.deployments.keys()),
    knowsZone: (zone) => live.has(zone) || annualReading(zone) !== null,
  };
}
