import type { Logger } from '@gw/service/log';

/** Logs what is wrong with something once, until it is mended (null). */
export type Teller = (what: string, fault: string | null) => void;

export function openTeller(log: Logger): Teller {
  const told = new Set<string>();
  return (what, fault) => {
    if (fault === null) return void told.delete(what);
    if (!told.has(what)) log.error({ what }, fault);
    told.add(what);
  };
}
