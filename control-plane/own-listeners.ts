/** Where the gateway itself listens, as far as the settings of this process know it: nobody is to connect there as to a provider. */
import { readListen } from '@gw/contract/internal/listen';
import { type OwnListener, targetOf } from '@gw/service/address-guard';
import { clusterOptions, sentinelOptions } from '@gw/service/redis-address';
import type { Config } from './config.ts';

type ListenerSettings = Pick<
  Config,
  'addresses' | 'databaseUrls' | 'health' | 'internalListen' | 'operatorListen' | 'otherListen' | 'redisUrl'
> & {
  readonly access: Pick<Config['access'], 'controlUrl'>;
};

export function ownListeners(config: ListenerSettings): readonly OwnListener[] {
  const { access, addresses, databaseUrls, health, internalListen, operatorListen, otherListen, redisUrl } = config;
  return [
    ...atUrl('public address (GW_BASE_URL): calls would come back to it, again and again', addresses.baseUrl),
    ...atUrl("operators' port (GW_CONTROL_URL)", access.controlUrl),
    ...atListen("operators' port (GW_CONTROL_LISTEN)", operatorListen),
    ...atListen('internal listener (GW_CONTROL_INTERNAL_LISTEN)', internalListen),
    ...(health.healthListen ? atListen('health port (GW_CONTROL_HEALTH_LISTEN)', health.healthListen) : []),
    ...(health.metricsListen ? atListen('metrics port (GW_CONTROL_METRICS_LISTEN)', health.metricsListen) : []),
    ...otherListen.flatMap(({ listen, name }) => atListen(`listener (${name})`, listen)),
    ...[...new Set(Object.values(databaseUrls))].flatMap((url) => atStore('Postgres (GW_DATABASE_URL_…)', url, 5432)),
    ...atStore('Redis (GW_REDIS_URL)', redisUrl, 6379),
  ];
}

/** People may be led there by a proxy, which leads others elsewhere. */
function atUrl(what: string, url: string): OwnListener[] {
  if (!URL.canParse(url)) return [];
  const { hostname: host, port } = targetOf(url);
  return [{ what, host, port, isShared: true }];
}

/** Port 0 is any free one, which nobody knows here. */
function atListen(what: string, text: string): OwnListener[] {
  const listen = readListen(text);
  return listen === null || 'path' in listen || listen.port === 0 ? [] : [{ what, ...listen }];
}

/** `host` and `port` in the query come first, as for Postgres; a folder is that of a Unix socket. */
function atStore(what: string, text: string, usualPort: number): OwnListener[] {
  const several = sentinelOptions(text)?.sentinels ?? clusterOptions(text)?.nodes;
  if (several !== undefined) return several.map((server) => ({ what, ...server }));
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const host = decodeURIComponent(url.searchParams.get('host') ?? url.hostname).replace(/^\[|\]$/g, '');
  if (host === '' || host.startsWith('/')) return [];
  return [{ what, host, port: Number(url.searchParams.get('port') ?? url.port) || usualPort }];
}
