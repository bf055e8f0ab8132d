/** The settings of ext-authz, read from its environment. */
import { type AccountTier, accountTiers, type TokenLimits } from '@gw/contract/access';
import {
  type Environment,
  readAllowedHosts,
  readInternalTls,
  readInternalTokens,
  readList,
  readRedisUrl,
  readSettings,
  type SettingReader,
} from '@gw/contract/internal/environment';
import { readPeppers } from '@gw/contract/internal/pepper';
import { readWitnessKeys } from '@gw/contract/internal/witness';
import { readImplementation } from '@gw/grpc/server';

/** Reads `tier=per minute/per day` for some tiers, where an empty part is no limit. A tier that is not named has none. */
function readTierTokens(settings: SettingReader): TierTokens {
  const read: { [Tier in AccountTier]?: TokenLimits } = {};
  for (const text of readList(settings, 'GW_TIER_TOKENS')) {
    const [, name, perMinute, perDay] = /^([a-z_]+)=([1-9]\d{0,9})?\/([1-9]\d{0,11})?$/.exec(text) ?? [];
    const tier = accountTiers.find((each) => each === name);
    if (tier) read[tier] = { perMinute: perMinute ? Number(perMinute) : null, perDay: perDay ? Number(perDay) : null };
    else
      settings.problem(
        `GW_TIER_TOKENS: "${text}" is not a tier (${accountTiers.join(', ')}), =, tokens per minute, / and tokens per day. Example: GW_TIER_TOKENS=audit=100000/5000000,audit_plus=400000/`,
      );
  }
  return read;
}

/** The limits in tokens of a tier; none for one that is absent. */
export type TierTokens = Readonly<Partial<Record<AccountTier, TokenLimits>>>;

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
    /** Limits in tokens of the tiers, for accounts without their own. */
    tierTokens: readTierTokens(settings),
    /** Warnings for the start: variables without an effect. */
    ignored: settings.ignored('ext-authz'),
  };
  settings.finish();
  return Object.freeze(config);
}
