/** Breaks the second of two instances under load, and waits until Envoy has noticed. */
import { instancesOf } from './instances.ts';
import { eventually, type OwnGateway } from './own-gateway.ts';

export type Service = 'ext-authz' | 'receipt-sidecar';

export interface Pair {
  /** Until the second instance has answered `calls` calls more. */
  secondHasAnswered(service: Service, calls: number): Promise<void>;
  /** Until Envoy gives calls to both, and the second has answered some. */
  bothAnswer(service: Service): Promise<void>;
  /** Stands still until calls have passed over the other one, and goes on. Returns when Envoy had noticed, ms. */
  standStill(service: Service): Promise<number>;
  restartSecond(service: Service): Promise<void>;
}

export function pairOf(gateway: OwnGateway): Pair {
  const look = (service: Service) => instancesOf(gateway.stack, service);
  const callsOf = async (service: Service, which: 0 | 1) => (await look(service))[which]?.calls ?? 0;
  const hasAnswered = async (service: Service, which: 0 | 1, calls: number) => {
    const before = await callsOf(service, which);
    const what = `calls for ${which === 0 ? 'the first' : 'the second'} ${service}`;
    await eventually(what, async () => (await callsOf(service, which)) >= before + calls);
  };
  const secondIsIn = (service: Service, isIn: boolean) =>
    eventually(
      `the second ${service} to be ${isIn ? 'in' : 'out'}`,
      async () => (await look(service))[1]?.isIn === isIn,
    );
  const bothAnswer = async (service: Service) => {
    await eventually(`both ${service}`, async () => {
      const instances = await look(service);
      return instances.length === 2 && instances.every(({ isIn }) => isIn);
    });
    await hasAnswered(service, 1, 20);
  };
  return {
    secondHasAnswered: (service, calls) => hasAnswered(service, 1, calls),
    bothAnswer,
    standStill: async (service) => {
      const goOn = gateway.pause(`${service}-2`);
      await secondIsIn(service, false);
      const noticedMs = performance.now();
      await hasAnswered(service, 0, 50);
      goOn();
      await bothAnswer(service);
      return noticedMs;
    },
    restartSecond: async (service) => {
      await gateway.stack.part(`${service}-2`).restart();
      await bothAnswer(service);
    },
  };
}
