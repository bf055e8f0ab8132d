/** The orderly end of the calls that are under way. */
import type { RpcServer } from '@gw/grpc/service';
import type { Idempotency } from '@gw/service/idempotency';
import type { StreamSlots } from '../guards/slots/slots.ts';
import type { Ends } from '../receipt/ends.ts';

export interface OpenCalls {
  readonly server: Pick<RpcServer, 'leave' | 'close'>;
  /** The instances of this service, including this one. */
  readonly instances: number;
  /** How long calls can go on before they are cut, seconds. */
  readonly drainS: number;
  readonly slots: Pick<StreamSlots, 'abandon'>;
  readonly ends: Pick<Ends, 'settle'>;
  readonly idempotency: Pick<Idempotency, 'stopWaiting' | 'freeHeld' | 'stop'>;
}

/** Resolves when no call is open and all that ended by themselves are recorded; `hurry` cuts them at once. */
export async function endCalls(
  { drainS, ends, idempotency, instances, server, slots }: OpenCalls,
  hurry?: AbortSignal,
): Promise<void> {
  if (instances > 1) await server.leave();
  // Their wait may outlast the grace period. Clients retry immediately, on another instance.
  idempotency.stopWaiting();
  // Envoy continues calls that are cut, and reports them to the next sidecar, so they still count as open. Their end is
  // unknown: only calls that broke off before are recorded here, and the sidecar that gets the leases records the rest.
  let settled: Promise<void> | null = null;
  const beforeCut = () => {
    slots.abandon();
    settled = ends.settle();
  };
  await server.close(drainS * 1000, { beforeCut, hurry });
  await (settled ?? ends.settle());
  // Calls that are cut may close after the server, and what Redis has not heard by now it would not hear.
  await idempotency.freeHeld();
  idempotency.stop();
}
