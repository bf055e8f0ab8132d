import type { LastRegions } from './choose-region.ts';

/** Clients choose their tolerance, so there is no end to what could be remembered. */
const most = 10_000;

/** Forgets what was remembered first where there is no more room. */
export function createLastRegions(): LastRegions {
  const regions = new Map<string, string>();
  return {
    get: (key) => regions.get(key),
    set: (key, region) => {
      if (regions.get(key) === region) return regions;
      if (regions.size >= most)
        for (const oldest of regions.keys()) {
          regions.delete(oldest);
          break;
        }
      return regions.set(key, region);
    },
  };
}
