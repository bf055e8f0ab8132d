/**
 * How a broken-off call ended: ext_proc can not tell a client's abort from a provider's cut, Envoy's access log can.
 *
 * Invariant: each call that asks gets one answer, at the latest after `waitMs`; nothing is kept longer than that.
 */

/** `nobody`: Envoy finished the reply without this process, and the client has its degraded receipt. */
export type BrokenBy = 'client' | 'provider' | 'nobody';

export interface Ends {
  /** From the access log. */
  tell(receiptId: string, by: BrokenBy): void;
  /** `client` if the log stays silent: then Envoy saw no fault of the provider. */
  ask(receiptId: string): Promise<BrokenBy>;
}

export function openEnds(waitMs: number): Ends {
  const told = new Map<string, BrokenBy>();
  const asking = new Map<string, (by: BrokenBy) => void>();
  return {
    tell(receiptId, by) {
      const answer = asking.get(receiptId);
      if (answer) return answer(by);
      told.set(receiptId, by);
      setTimeout(() => told.delete(receiptId), waitMs).unref();
    },
    ask(receiptId) {
      const known = told.get(receiptId);
      if (known) return Promise.resolve(known);
      return new Promise((resolve) => {
        const answer = (by: BrokenBy) => {
          clearTimeout(timer);
          asking.delete(receiptId);
          resolve(by);
        };
        const timer = setTimeout(() => answer('client'), waitMs);
        asking.set(receiptId, answer);
      });
    },
  };
}
