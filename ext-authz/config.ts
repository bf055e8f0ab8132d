/** The settings of ext-authz, read from its environment. */
import type { Addresses } from '@gw/contract/errors';
import {
  type Environment,
  type InternalTls,
  readInternalTls,
  readInternalToken,
  readRedisUrl,
  readSettings,
} from '@gw/contract/internal/environment';
import { type Peppers, readPeppers } from '@gw/contract/internal/pepper';
import { type Implementation, readImplementation } from '@gw/grpc/server';

export interface Config {
  /** `unix:/path` or `host:port`. */
  readonly listen: string;
  /** `host:port` of GET /healthz, or null. */
  readonly healthListen: string | null;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly internalToken: string;
  /** For `listen` on `host:port`; null: plain. */
  readonly internalTls: InternalTls | null;
  /** Implementation of the gRPC server. */
  readonly grpcServer: Implementation;
  /** Server-side part of the key hash; never stored with the hashes. */
  readonly peppers: Peppers;
  readonly addresses: Addresses;
  readonly logLevel: string;
  /** Number of instances that share the limits while Redis is unavailable. */
  readonly instances: number;
}

export function loadConfig(environment: Environment): Config {
  const settings = readSettings(environment);
  const config: Config = {
    listen: settings.listen('GW_AUTHZ_LISTEN', 'unix:/run/gw/ext-authz.sock'),
    healthListen: settings.hostPort('GW_AUTHZ_HEALTH_LISTEN', null),
    databaseUrl: settings.required('GW_DATABASE_URL', 'postgresql://gw@localhost/gw'),
    redisUrl: readRedisUrl(settings),
    internalToken: readInternalToken(settings),
    internalTls: readInternalTls(settings),
    grpcServer: readImplementation(settings),
    peppers: readPeppers(settings),
    addresses: settings.addresses(),
    logLevel: settings.optional('GW_LOG_LEVEL', 'info'),
    instances: Math.max(1, settings.integer('GW_AUTHZ_INSTANCES', 1)),
  };
  settings.finish();
  return Object.freeze(config);
}
