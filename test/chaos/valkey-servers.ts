/** The Valkey of a chaos: one server of the stack, or several that replace their primary by themselves. */
import { setTimeout as delay } from 'node:timers/promises';
import { ledgerStream, limitKey } from '@gw/contract/internal/redis';
import type { RedisUser } from '@gw/contract/internal/redis-users';
import { type Sentinels, startSentinels } from '@gw/testing/service/sentinels';
import { startCluster, type ValkeyCluster } from '@gw/testing/service/valkey-cluster';
import type { Ground } from './schedule.ts';

export interface ValkeyServers {
  /** `GW_REDIS_URL` of a part, and of whoever may do everything. */
  readonly urlAs: (user: RedisUser) => string;
  readonly ownerUrl: string;
  /**
   * A primary stands still or is killed, and comes back as a replica when another one has taken over and `forMs` have passed. In a Cluster it
   * is the one with the ledger, or with the counts of the account.
   */
  failOver(forMs: number, accountId: string): Promise<void>;
  stop(): Promise<void>;
}

/** Null for the one server that each stack has. */
export async function startValkeyServers({ valkey }: Ground): Promise<ValkeyServers | null> {
  if (valkey === 'one server') return null;
  return valkey === 'a Cluster' ? inCluster(await startCluster()) : behindSentinels(await startSentinels());
}

/** Chooses one of two ways, as random as the number is. */
const isFirst = (forMs: number): boolean => forMs % 2 === 0;

function behindSentinels(sentinels: Sentinels): ValkeyServers {
  return {
    urlAs: () => sentinels.url,
    ownerUrl: sentinels.url,
    stop: () => sentinels.stop(),
    async failOver(forMs) {
      const before = await sentinels.primary();
      sentinels.node(before).kill(isFirst(forMs) ? 'SIGKILL' : 'SIGSTOP');
      await Promise.all([sentinels.failedOver(before), delay(forMs)]);
      if (isFirst(forMs)) await sentinels.startAgain(before);
      else sentinels.node(before).kill('SIGCONT');
    },
  };
}

function inCluster(cluster: ValkeyCluster): ValkeyServers {
  return {
    urlAs: (user) => cluster.urlAs(user),
    ownerUrl: cluster.ownerUrl,
    stop: () => cluster.stop(),
    async failOver(forMs, accountId) {
      const key = isFirst(forMs) ? ledgerStream : limitKey(accountId, 'day');
      const before = await cluster.primaryOf(key);
      before.child.kill('SIGKILL');
      const replaced = async (): Promise<void> => {
        while ((await cluster.primaryOf(key)).port === before.port) await delay(100);
      };
      await Promise.all([replaced(), delay(forMs)]);
      await cluster.startAgain(before.port);
    },
  };
}
