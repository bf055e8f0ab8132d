/** Reads the requests that the simulated provider got. It keeps the last 4,096, so it is read again and again. */
import { z } from 'zod';

export interface ProviderCall {
  readonly sequence: number;
  readonly marker: string;
  readonly outcome: string;
  readonly status: number | null;
}

const listed = z.object({
  requests: z.array(
    z.object({
      sequence: z.number(),
      headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
      outcome: z.string(),
      status: z.number().nullable(),
    }),
  ),
});

export interface ProviderWatch {
  /** All calls since the watch began, read once more. */
  calls(): Promise<ProviderCall[]>;
  stop(): void;
}

const everyMs = 5000;

export function watchProvider(simulatorUrl: string): ProviderWatch {
  const bySequence = new Map<number, ProviderCall>();
  const look = async () => {
    const reply = await fetch(`${simulatorUrl}/sim/requests?limit=4096`);
    for (const { sequence, headers, outcome, status } of listed.parse(await reply.json()).requests) {
      const header = (name: string) => String(headers[name] ?? '');
      const call = { sequence, marker: header('x-sim-marker'), outcome, status };
      if (call.marker) bySequence.set(sequence, call);
    }
  };
  const timer = setInterval(() => void look().catch(() => undefined), everyMs);
  return {
    calls: async () => {
      await look();
      return [...bySequence.values()];
    },
    stop: () => clearInterval(timer),
  };
}
