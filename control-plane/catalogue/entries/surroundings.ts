/**
 * The settings of this process that entries are compared with. Other instances may be configured differently, so a
 * mismatch causes a warning and never a refusal.
 */
import { annualReading } from '@gw/methodology/grid-annual';

export interface Surroundings {
  readonly credentials: {
    /** Returns the value for an address of a provider; null if there is none that may go there. */
    find(name: string, baseUrl: string): string | null;
  };
  /** The ids of deployments whose GPU counters are configured. */
  readonly gpuDeployments: ReadonlySet<string>;
  /** Whether the carbon intensity of a grid zone is known, from a live source or as a yearly average. */
  readonly knowsZone: (zone: string) => boolean;
}

export interface SurroundingNames {
  readonly gpuDeployments: Iterable<string>;
  /** The grid zones that have a live source. */
  readonly liveZones: Iterable<string>;
}

export function surroundingsOf(
  { gpuDeployments, liveZones }: SurroundingNames,
  credentials: Surroundings['credentials'],
): Surroundings {
  const live = new Set(liveZones);
  return {
    credentials,
    gpuDeployments: new Set(gpuDeployments),
    knowsZone: (zone) => live.has(zone) || annualReading(zone) !== null,
  };
}
