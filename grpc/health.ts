/**
 * grpc.health.v1.Health/Check: whether Envoy shall give this instance calls.
 *
 * Invariant: NOT_SERVING means only "rather another one". Envoy asks all the same where no instance serves, so a service
 * says it as soon as another instance could do better, and never has to weigh whether there is one.
 *
 * It demands the internal token like every other method: Envoy's checks carry it (`initial_metadata` in
 * envoy.template.yaml), so an instance with another token than Envoy's counts as one that does not serve.
 */
import type { Codec } from './messages.ts';

export const healthPath = '/grpc.health.v1.Health/Check';

interface HealthReply {
  readonly isServing: boolean;
}

/** The one field that matters, `status`: SERVING is 1, NOT_SERVING 2. A process serves as a whole, so no name is read. */
export const healthCodec: Codec<null, HealthReply> = {
  decode: () => null,
  encode: ({ isServing }) => Uint8Array.of(0x08, isServing ? 1 : 2),
};
