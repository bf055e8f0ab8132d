/** The settings of the sidecar, read once from its environment. */
import type { Addresses } from '@gw/contract/errors';
import {
  type Environment,
  type InternalTls,
  type InternalTokens,
  readAllowedHosts,
  readInternalTls,
  readInternalTokens,
  readRedisUrl,
  readSettings,
  type SettingReader,
} from '@gw/contract/internal/environment';
import { type NumberedKey, readNumberedKey } from '@gw/contract/internal/key-ring';
import { type Implementation, readImplementation } from '@gw/grpc/server';
import type { HealthListeners } from '@gw/service/health';
import type { ReplyCipher } from '@gw/service/idempotency';
import { readReplyCipher, readReplyRoom } from '@gw/service/idempotency-settings';
import type { ClassifierSettings } from './admission/classifier.ts';
import { defaultThreads } from './wire/threads/body-threads.ts';

export interface Config extends Required<InternalTokens> {
  /** `unix:/path` or `host:port`. */
  readonly listen: string;
  readonly health: HealthListeners;
  readonly redisUrl: string;
  /** For `listen` on `host:port`; null means plain. */
  readonly internalTls: InternalTls | null;
  /** Which gRPC implementation is used. */
  readonly grpcServer: Implementation;
  /** The folder where receipts wait while Redis is away; it has to be persistent. */
  readonly spoolDir: string;
  /** Seals what it writes to the ledger. */
  readonly entryKey: NumberedKey;
  /** How many receipts may wait in Redis for Postgres before further ones go to the spool. */
  readonly maxStreamLength: number;
  /** How long it keeps receipts after Postgres has committed them, for a Postgres that goes back in time. */
  readonly ledgerKeepS: number;
  readonly addresses: Addresses;
  readonly logLevel: string;
  /** How long a provider can take for a whole JSON reply. */
  readonly upstreamTimeoutS: number;
  /** How long a stream can be silent at its beginning before the next deployment is tried. */
  readonly firstByteTimeoutS: number;
  /** How many instances share the limits of open streams: each enforces its share while Redis is away. */
  readonly instances: number;
  /** How long an orderly end waits for calls that are open, seconds. */
  readonly drainS: number;
  /** Encrypts the replies that are kept for idempotency keys. */
  readonly replyCipher: ReplyCipher;
  /** How many bytes these may have. */
  readonly replyRoom: number;
  /** Where rules of kind `classifier` ask; null: nowhere. */
  readonly classifier: ClassifierSettings | null;
  /** How many threads read large bodies. */
  readonly threads: number;
  /** The most combinations of account, model and region whose usage is counted separately. */
  readonly mostUsageSeries: number;
  /** Warnings for the start: variables without an effect. */
  readonly ignored: readonly string[];
}

/** As long as a provider may take by default: another instance has the new calls meanwhile. */
const drainOfSeveralS = 600;
/** Nobody has the new calls meanwhile. */
const drainAloneS = 5;

/** Reads and checks all settings. Throws one error that names everything that is wrong. */
export function loadConfig(environment: Environment): Config {
  const settings = readSettings(environment);
  const instances = Math.max(1, settings.integer('GW_SIDECAR_INSTANCES', 1));
  const config: Config = {
    listen: settings.listen('GW_SIDECAR_LISTEN', 'unix:/run/gw/receipt-sidecar.sock'),
    health: {
      healthListen: settings.hostPort('GW_SIDECAR_HEALTH_LISTEN', null),
      metricsListen: settings.hostPort('GW_SIDECAR_METRICS_LISTEN', null),
      allowedHosts: readAllowedHosts(settings),
    },
    redisUrl: readRedisUrl(settings),
    ...readInternalTokens(settings),
    internalTls: readInternalTls(settings),
    grpcServer: readImplementation(settings),
    spoolDir: settings.required('GW_SPOOL_DIR', '/var/lib/gw/spool'),
    entryKey: readNumberedKey(settings, { key: 'GW_LEDGER_ENTRY_KEY', id: 'GW_LEDGER_ENTRY_KEY_ID' }),
    // Some 500 MB of Redis.
    maxStreamLength: Math.max(1, settings.integer('GW_LEDGER_STREAM_MAX', 100_000)),
    ledgerKeepS: settings.integer('GW_LEDGER_KEEP_S', 60),
    addresses: settings.addresses(),
    logLevel: settings.optional('GW_LOG_LEVEL', 'info'),
    // The official SDKs wait 600 s by default; a gateway that gave up earlier would change their behaviour.
    upstreamTimeoutS: settings.integer('GW_UPSTREAM_TIMEOUT_S', 600),
    firstByteTimeoutS: settings.integer('GW_FIRST_BYTE_TIMEOUT_S', 30),
    instances,
    drainS: settings.integer('GW_SIDECAR_DRAIN_S', instances > 1 ? drainOfSeveralS : drainAloneS),
    replyCipher: readReplyCipher(settings),
    replyRoom: readReplyRoom(settings),
    classifier: readClassifier(settings),
    threads: Math.max(1, settings.integer('GW_SIDECAR_THREADS', defaultThreads())),
    mostUsageSeries: settings.integer('GW_USAGE_SERIES_MAX', 2000),
    ignored: settings.ignored('receipt-sidecar'),
  };
  settings.finish();
  return Object.freeze(config);
}

function readClassifier(settings: SettingReader): ClassifierSettings | null {
  const url = settings.optional('GW_CLASSIFIER_URL', '');
  if (url !== '' && !(/^https?:/.test(url) && URL.canParse(url)))
    settings.problem(
      'GW_CLASSIFIER_URL is not the address of a moderation endpoint. Example: GW_CLASSIFIER_URL=http://127.0.0.1:8000/v1/moderations',
    );
  const key = settings.optional('GW_CLASSIFIER_KEY', '');
  const model = settings.optional('GW_CLASSIFIER_MODEL', '');
  const timeoutMs = settings.integer('GW_CLASSIFIER_TIMEOUT_MS', 1000);
  return url === '' ? null : { url, key: key === '' ? null : key, model: model === '' ? null : model, timeoutMs };
}
