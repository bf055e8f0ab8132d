/** The environment of the control plane, read once. */
import type { Addresses } from '@gw/contract/errors';
import {
  type Environment,
  type InternalTls,
  type InternalTokens,
  readAllowedHosts,
  readInternalTls,
  readInternalTokens,
  readList,
  readRedisUrl,
  readSettings,
  type SettingReader,
} from '@gw/contract/internal/environment';
import type { KeyRing } from '@gw/contract/internal/key-ring';
import { type Peppers, readPeppers } from '@gw/contract/internal/pepper';
import { readProbeListen } from '@gw/contract/internal/probe';
import type { PackKey } from '@gw/evidence/seal';
import type { ControlPlaneRole } from '@gw/prisma/roles';
import type { HealthListeners } from '@gw/service/health';
import type { ReplyCipher } from '@gw/service/idempotency';
import { readReplyCipher, readReplyRoom } from '@gw/service/idempotency-settings';
import { type CredentialSettings, readCredentialSettings } from './catalogue/credentials/config.ts';
import { readScreeningSettings, type ScreeningSettings } from './customers/screening/config.ts';
import { type PackSettings, readEvidenceKey, readPackSettings } from './ledger/evidence/config.ts';
import { type GpuSettings, readGpuSettings } from './ledger/gpu/config.ts';
import { type GridSettings, readGridSettings } from './ledger/grid/config.ts';
import { type IntegritySettings, readIntegritySettings } from './ledger/integrity/config.ts';
import { type LogWitness, readLogWitnesses } from './ledger/log/witnesses.ts';
import { readCurrency } from './ledger/usage/config.ts';
import { type AccessSettings, readAccessSettings } from './people/access/config.ts';
import { readNameKeys } from './shared/names/config.ts';
import { readObjects } from './shared/objects/config.ts';
import type { ObjectStore } from './shared/objects/objects.ts';

export interface Config extends Required<InternalTokens> {
  /** `unix:/path` or `host:port`; only Envoy may reach it. */
  readonly internalListen: string;
  readonly health: HealthListeners;
  /** `host:port` of the operator API. */
  readonly operatorListen: string;
  /** Where other parts of the gateway listen, as far as it was said here; only to know them as our own. */
  readonly otherListen: readonly { readonly name: string; readonly listen: string }[];
  /** Where Envoy takes test calls to providers: `unix:/path`, or `host:port` with `internalTls`. */
  readonly probeListen: string;
  /** Where each role connects. */
  readonly databaseUrls: Readonly<Record<ControlPlaneRole, string>>;
  readonly redisUrl: string;
  /** Where evidence packs and archived months are. */
  readonly objects: ObjectStore;
  /** For the internal listener on `host:port`; null means plain HTTP. */
  readonly internalTls: InternalTls | null;
  /** Certificates whose end alone is watched here: that of Envoy, and that of the key of evidence. */
  readonly watchedCertificates: readonly string[];
  /** The secrets that keys are hashed with; ext-authz needs the same. */
  readonly peppers: Peppers;
  /** Encrypts the replies that are kept for idempotency keys; the sidecar needs the same. */
  readonly replyCipher: ReplyCipher;
  /** How many bytes these may have; likewise. */
  readonly replyRoom: number;
  /** Where the credentials of providers come from. */
  readonly credentials: CredentialSettings;
  /** The operators' port, and who logs in there. */
  readonly access: AccessSettings;
  /** The seals of the ledger, and its checks. */
  readonly integrity: IntegritySettings;
  /** Wraps the keys that names are encrypted with. */
  readonly nameKeys: KeyRing;
  /** Signs evidence packs. */
  readonly evidenceKey: PackKey;
  /** The settings of long packs. */
  readonly packs: PackSettings;
  /** Witnesses that cosign the checkpoints of the logs of receipts; none by default. */
  readonly logWitnesses: readonly LogWitness[];
  /** Sources of live carbon intensity; none by default. */
  readonly grid: GridSettings;
  /** Energy counters of self-hosted GPUs; none by default. */
  readonly gpu: GpuSettings;
  /** Lists and rules against which applications are screened. */
  readonly screening: ScreeningSettings;
  /** ISO 4217: in which the prices of the catalogue are. */
  readonly currency: string;
  readonly addresses: Addresses;
  readonly logLevel: string;
  /** Warnings for the start: variables without an effect. */
  readonly ignored: readonly string[];
}

/** Reads and checks all settings. Throws one error that names everything that is wrong. */
export function loadConfig(environment: Environment): Config {
  const settings = readSettings(environment);
  const internalTls = readInternalTls(settings);
  const config: Config = {
    internalListen: settings.listen('GW_CONTROL_INTERNAL_LISTEN', 'unix:/run/gw/control-plane.sock'),
    operatorListen: settings.hostPort('GW_CONTROL_LISTEN', '127.0.0.1:8081'),
    health: {
      healthListen: settings.hostPort('GW_CONTROL_HEALTH_LISTEN', null),
      metricsListen: settings.hostPort('GW_CONTROL_METRICS_LISTEN', null),
      allowedHosts: readAllowedHosts(settings),
    },
    otherListen: readOtherListen(settings),
    probeListen: readProbeListen(settings, internalTls),
    databaseUrls: readDatabaseUrls(settings),
    redisUrl: readRedisUrl(settings),
    objects: readObjects(settings),
    ...readInternalTokens(settings),
    internalTls,
    watchedCertificates: ['GW_TLS_CERT_FILE', 'GW_EVIDENCE_CERTIFICATES']
      .map((name) => settings.optional(name, ''))
      .filter(Boolean),
    peppers: readPeppers(settings),
    replyCipher: readReplyCipher(settings),
    replyRoom: readReplyRoom(settings),
    credentials: readCredentialSettings(settings, environment),
    access: readAccessSettings(settings),
    integrity: readIntegritySettings(settings),
    nameKeys: readNameKeys(settings),
    evidenceKey: readEvidenceKey(settings),
    packs: readPackSettings(settings),
    logWitnesses: readLogWitnesses(settings),
    grid: readGridSettings(settings),
    gpu: readGpuSettings(settings),
    screening: readScreeningSettings(settings),
    currency: readCurrency(settings),
    addresses: settings.addresses(),
    logLevel: settings.optional('GW_LOG_LEVEL', 'info'),
    ignored: settings.ignored('control-plane'),
  };
  settings.finish();
  return Object.freeze(config);
}

const readDatabaseUrls = (settings: SettingReader): Config['databaseUrls'] => ({
  people: settings.required('GW_DATABASE_URL_PEOPLE', 'postgresql://gw_people@localhost/gw'),
  customers: settings.required('GW_DATABASE_URL_CUSTOMERS', 'postgresql://gw_customers@localhost/gw'),
  catalogue: settings.required('GW_DATABASE_URL_CATALOGUE', 'postgresql://gw_catalogue@localhost/gw'),
  ledger: settings.required('GW_DATABASE_URL_LEDGER', 'postgresql://gw_ledger@localhost/gw'),
  reader: settings.required('GW_DATABASE_URL_READER', 'postgresql://gw_reader@localhost/gw'),
});

const others = [
  'GW_PUBLIC_LISTEN',
  'GW_AUTHZ_LISTEN',
  'GW_AUTHZ_HEALTH_LISTEN',
  'GW_AUTHZ_METRICS_LISTEN',
  'GW_SIDECAR_LISTEN',
  'GW_SIDECAR_HEALTH_LISTEN',
  'GW_SIDECAR_METRICS_LISTEN',
  'GW_PROBE_LISTEN',
];

/** Each may name several, separated by commas. */
const readOtherListen = (settings: SettingReader): Config['otherListen'] =>
  others.flatMap((name) => readList(settings, name).map((listen) => ({ name, listen })));
