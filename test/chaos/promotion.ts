/** A replica that follows the Postgres of a gateway, and takes its place when it lags; another one follows it then. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startStandby } from '@gw/testing/prisma/standby';
import { apiOf } from '../operator-api.ts';
import { eventually, type OwnGateway } from '../outage/own-gateway.ts';

export interface Replica {
  /** Resolves when an operator has confirmed the alarm, and another replica follows. */
  promote(lagMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Parts that are broken meanwhile have to come back first. */
const patienceMs = 90_000;
/** How long an operator looks at the alarm. */
const confirmedAfterMs = 5000;

export async function startReplica({ dir, killForGood, stack }: OwnGateway): Promise<Replica> {
  const data = join(dir, 'postgres', 'data');
  const follow = () => startStandby({ data, url: stack.databaseUrl });
  let standby = await follow();
  const api = apiOf(stack);
  const alarm = async () =>
    (await api.get('/operator/v1/restore')) as { readonly alarm: { readonly id: string } | null };
  return {
    async promote(lagMs) {
      await standby.cut();
      await delay(lagMs);
      await killForGood('postgres');
      rmSync(`${data}.lost`, { recursive: true, force: true });
      await standby.promote();
      await stack.part('postgres').start();
      await eventually('the alarm', async () => (await alarm()).alarm !== null, patienceMs);
      await delay(confirmedAfterMs);
      const confirmed = async (): Promise<boolean> => {
        const { alarm: standing } = await alarm();
        if (standing === null) return true;
        await api.send('POST', '/operator/v1/restore/confirm', { alarm: standing.id, reason: 'chaos' });
        return false;
      };
      await eventually('the alarm to end', confirmed, patienceMs);
      await standby.stop();
      standby = await follow();
    },
    stop: () => standby.stop(),
  };
}
