/** The settings of ext-authz, read from its environment. */
import {
  type Environment,
  readAllowedHosts,
  readInternalTls,
  readInternalTokens,
  readRedisUrl,
  readSettings,
} from '@gw/contract/internal/environment';
import { readPeppers } from '@gw/contract/internal/pepper';
import { readWitnessKeys } from '@gw/contract/internal/witness';
import { readImplementation } from '@gw/grpc/server';

export type Config = ReturnType<typeof loadConfig>;

export function loadConfig(environment: Environment) {
  const settings = readSettings(environment);
  const config = {
    listen: settings.listen('GW_AUTHZ_LISTEN', 'unix:/run/gw/ext-authz.sock'),
    health: {
      healthListen: settings.hostPort('GW_AUTHZ_HEALTH_LISTEN', null),
      metricsListen: settings.hostPort('GW_AUTHZ_METRICS_LISTEN', null),
      allowedHosts: readAllowedHosts(settings),
    },
    databaseUrl: settings.required('GW_DATABASE_URL', 'postgresql://gw@localhost/gw'),
    redisUrl: readRedisUrl(settings),
    ...readInternalTokens(settings),
    /** Applies to a `listen` on `host:port`; null: plain. */
    internalTls: readInternalTls(settings),
    grpcServer: readImplementation(settings),
    /** Server-side part of the key hash; never stored with the hashes. */
    peppers: readPeppers(settings),
    /** The current one signs the statements about counted calls. */
    witnessKeys: readWitnessKeys(settings),
    addresses: settings.addresses(),
    logLevel: settings.optional('GW_LOG_LEVEL', 'info'),
    /** Number of instances that share the limits while Redis is unavailable. */
    instances: Math.max(1, settings.integer('GW_AUTHZ_INSTANCES', 1)),
    /** Warnings for the start: variables without an effect. */
    ignored: settings.ignored('ext-authz'),
  };
  settings.finish();
  return Object.freeze(config);
}
