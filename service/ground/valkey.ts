/** Judges a Valkey or Redis by what it says in INFO and TIME. */
import { defined } from '@gw/contract/internal/defined';
import { type Clock, machineClock, openComparison, skewFinding } from './clock.ts';
import type { Finding, Foundation, Look } from './foundation.ts';

interface Server {
  /** Sends one command. */
  call(command: string): Promise<unknown>;
}

type Info = Readonly<Record<string, string>>;

/** Valkey calls the mode of Redis that of the server. */
const infoOf = (text: string): Info => {
  const lines = [...text.matchAll(/^(\w+):(.*?)\r?$/gm)];
  return Object.fromEntries(
    lines.map(([, name = '', value = '']) => [name.replace('redis_mode', 'server_mode'), value]),
  );
};

/** Scripts and the rules of users need these (contract/internal/redis-users.ts). */
const oldest = { valkey: [7, 2], redis: [7, 0] } as const;

const older = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [here = 0, below = 0] = version.split('.').map(Number);
  return here < major || (here === major && below < minor);
};

const judged: readonly ((info: Info, isCluster: boolean) => Finding | null)[] = [
  ({ server_mode }) =>
    server_mode === 'sentinel'
      ? refusal(
          'valkey_sentinel',
          'GW_REDIS_URL leads to a Sentinel. Write redis+sentinel://host:26379/name, by which it is asked for the primary.',
        )
      : null,
  ({ cluster_enabled, server_mode }, isCluster) =>
    !isCluster && (cluster_enabled === '1' || server_mode === 'cluster')
      ? refusal(
          'valkey_cluster',
          'This Valkey is a node of a cluster. Write redis+cluster://host:6379,host:6379, by which the other nodes are found.',
        )
      : null,
  (info) => {
    const { name, version } = serverOf(info);
    const least = oldest[name].join('.');
    return older(version, oldest[name])
      ? refusal(
          'valkey_version',
          `This is ${name} ${version}. The gateway needs valkey ${oldest.valkey.join('.')} or redis ${oldest.redis.join('.')}, so update it to ${least} or later.`,
        )
      : null;
  },
  ({ maxmemory_policy }) =>
    maxmemory_policy !== undefined && maxmemory_policy !== 'noeviction'
      ? refusal(
          'valkey_eviction',
          `Valkey throws data away when it is full (maxmemory-policy ${maxmemory_policy}): receipts on their way, limits, idempotency keys. Set it to noeviction; a full Valkey then refuses writes, which loses nothing.`,
        )
      : null,
  ({ role }) =>
    role === 'slave'
      ? trouble(
          'valkey_replica',
          'This Valkey is a replica. GW_REDIS_URL has to lead to the primary: by a name that follows it, or by redis+sentinel://.',
        )
      : null,
  ({ aof_enabled, connected_slaves, role }) =>
    aof_enabled === '0' && role !== 'slave' && connected_slaves === '0'
      ? trouble(
          'valkey_persistence',
          'Valkey keeps no append-only file and has no replica, so a restart forgets limits and idempotency keys. Set appendonly to yes.',
        )
      : null,
];

const refusal = (name: string, sentence: string): Finding => ({ name, sentence, refuses: true });
const trouble = (name: string, sentence: string): Finding => ({ name, sentence, refuses: false });

function serverOf({ redis_version = '0', valkey_version }: Info): { name: 'valkey' | 'redis'; version: string } {
  return valkey_version === undefined
    ? { name: 'redis', version: redis_version }
    : { name: 'valkey', version: valkey_version };
}

/**
 * `servers`: the one server, which may be another one after a failover, or the primaries of a cluster that the setting names (`isCluster`). What
 * is found at any of them is found.
 */
export const valkeyGround = (
  servers: () => readonly Server[],
  isCluster: boolean,
  clock: Clock = machineClock,
): Foundation => ({
  name: 'valkey',
  async look() {
    const looks = await Promise.all(servers().map((server) => lookAt(server, isCluster, clock)));
    const first = defined(looks[0], 'A primary of Valkey');
    const findings = new Map(looks.flatMap((look) => look.findings.map((finding) => [finding.name, finding])));
    const { aheadS } = looks.reduce(
      (most, look) => (Math.abs(look.aheadS) > Math.abs(most.aheadS) ? look : most),
      first,
    );
    const facts = { ...first.facts, ahead_s: aheadS, ...(isCluster ? { primaries: looks.length } : {}) };
    return { facts, findings: [...findings.values()], aheadS };
  },
});

async function lookAt(server: Server, isCluster: boolean, clock: Clock): Promise<Look & { readonly aheadS: number }> {
  const info = infoOf(String(await server.call('INFO')));
  const compare = openComparison(clock);
  const [seconds, micros] = (await server.call('TIME')) as readonly unknown[];
  const compared = compare(Number(seconds) * 1000 + Number(micros) / 1000);
  const { name, version } = serverOf(info);
  const { aof_enabled = '', maxmemory = '', maxmemory_policy = '', server_mode = '', role = '' } = info;
  return {
    facts: {
      server: `${name} ${version}`,
      mode: server_mode,
      role,
      maxmemory,
      maxmemory_policy,
      appendonly: aof_enabled === '1',
      ahead_s: compared.aheadS,
    },
    findings: [...judged.flatMap((judge) => judge(info, isCluster) ?? []), ...skewFinding('valkey', compared)],
    aheadS: compared.aheadS,
  };
}
