/** The orderly end of the calls that are under way. */
import type { RpcServer } from '@gw/grpc/service';
import type { Idempotency } from '@gw/service/idempotency';
import type { StreamSlots } from './slots/slots.ts';

/** How long calls can go on before they are cut, ms. */
const graceMs = 5000;

export interface OpenCalls {
  readonly server: Pick<RpcServer, 'leave' | 'close'>;
  /** Of this service, with this one. */
  readonly instances: number;
  readonly slots: Pick<StreamSlots, 'abandon'>;
  readonly idempotency: Pick<Idempotency, 'stopWaiting' | 'freeHeld' | 'stop'>;
}

/** Resolves when no call is open. */
export async function endCalls({ idempotency, instances, server, slots }: OpenCalls): Promise<void> {
  if (instances > 1) await server.leave();
  // What they wait for may take longer than the grace. They come back at once, to another one.
  idempotency.stopWaiting();
  // Envoy goes on with what is cut then: it still counts as open, by what Envoy tells the next sidecar of it.
  await server.close(graceMs, () => slots.abandon());
  // Calls that are cut may close after the server, and what Redis has not heard by now it would not hear.
  await idempotency.freeHeld();
  idempotency.stop();
}
