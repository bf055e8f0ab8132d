/**
 * How each part is started: its command, and the environment that it gets.
 *
 * Invariant: secrets travel in the environment or in files of mode 0600, never in arguments, which every user of the
 * machine can read; and a part gets only the settings that it needs.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type RedisUser, redisUserName } from '@gw/contract/internal/redis-users';
import { isCredential, type SettingReaderName, settingsOf } from '@gw/contract/internal/settings';
import { reasonAgainstUp } from '@gw/contract/internal/settings-of-up';
import { type DatabaseRole, databaseSettings } from '@gw/prisma/roles';
import { certificateVariables, type InternalNetwork, internalAddress } from './internal-network.ts';
import { startChild } from './machine/child.ts';
import { memoryOf } from './memory.ts';
import { ledgerKeysOf, type Secrets } from './secrets.ts';
import { startPostgres, urlAs } from './services/postgres.ts';
import type { ServiceOptions } from './services/service.ts';
import { startValkey, type ValkeyPasswords, valkeyUrlAs } from './services/valkey.ts';
import type { PartPlan, Running } from './supervise.ts';

export const partNames = [
  'postgres',
  'valkey',
  'simulator',
  'control-plane',
  'ext-authz',
  'receipt-sidecar',
  'envoy',
] as const;
/** There may be several of a part: `ext-authz`, `ext-authz-2`, … */
type Numbered<Name extends string> = Name | `${Name}-${number}`;
export const sharedNames = ['ext-authz', 'receipt-sidecar'] as const;
type SharedName = (typeof sharedNames)[number];
export type InstanceName = Numbered<SharedName>;
export type EnvoyName = Numbered<'envoy'>;
export type ControlPlaneName = Numbered<'control-plane'>;
export type PartName = (typeof partNames)[number] | InstanceName | EnvoyName | ControlPlaneName;
type Program = 'simulator' | 'control-plane' | SharedName;
type ServiceName = Program | InstanceName | ControlPlaneName;

export const instanceNames = <Name extends string>(name: Name, count: number): Numbered<Name>[] =>
  Array.from({ length: count }, (_, index) => (index === 0 ? name : (`${name}-${index + 1}` as const)));

/** Returns the program that an instance runs. */
const programOf = (name: ServiceName) => name.replace(/-\d+$/, '') as Program;
export type Variables = Readonly<Record<string, string | undefined>>;

/** Everything that the plans are made from. */
export interface Layout extends InternalNetwork {
  readonly dir: string;
  readonly logs: string;
  readonly secrets: Secrets;
  readonly ports: { readonly public: number; readonly control: number; readonly simulator: number };
  /** The ports of further Envoys and control planes. */
  readonly furtherPorts: Readonly<Partial<Record<EnvoyName | ControlPlaneName, number>>>;
  /** How many there are of each of `sharedNames`. */
  readonly instances: number;
  readonly envoys: number;
  readonly controlPlanes: number;
  readonly healthPorts: Readonly<Partial<Record<InstanceName, number>>>;
  readonly publicUrl: string;
  /** For the owner, who only migrates; each part connects as a role of its own. */
  readonly ownerDatabaseUrl: string;
  /** Without a user. */
  readonly valkeyUrl: string;
  /** The key of the provider given by `--provider`, or null. */
  readonly providerKey: string | null;
  /** More variables for single parts, for tests. */
  readonly overrides: Readonly<Partial<Record<PartName, Variables>>>;
  readonly durable: boolean;
  /** How long an orderly end waits for calls that are under way, seconds; null: hardly, since somebody waits for it. */
  readonly drainS: number | null;
  /** The checkout that a part is run from, asked at each start. */
  readonly checkoutOf: (name: PartName | 'migrate') => string;
}

export const logFileOf = (logs: string, name: PartName): string => join(logs, `${name}.log`);

/** Variables that any program needs and that hold no secret. */
export const passedOn = [
  ...['PATH', 'HOME', 'TMPDIR', 'LANG', 'TZ'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NIX_SSL_CERT_FILE', 'NODE_COMPILE_CACHE'],
];
export function fromUser(names: readonly string[]): Variables {
  return Object.fromEntries(names.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined));
}

/** The settings of the user that a program reads, but for those that are chosen here (`ignoredByUp`). */
export const settingsFor = (reader: SettingReaderName): Variables =>
  fromUser(settingsOf[reader].filter((name) => reasonAgainstUp(name) === null));

function controlPlaneSettings({ dir }: Layout): Variables {
  return {
    // Invented names, so that onboarding can be tried out.
    GW_SANCTIONS_FILES: 'synthetic',
    ...(process.env.GW_OBJECTS_URL ? {} : { GW_OBJECTS_DIR: join(dir, 'objects') }),
    ...settingsFor('control-plane'),
    ...fromUser(Object.keys(process.env).filter(isCredential)),
  };
}

const onLoopback = (port = 0): string => `127.0.0.1:${port}`;

const redisUrlOf = ({ secrets, valkeyUrl }: Layout, user: RedisUser): string =>
  valkeyUrlAs(valkeyUrl, redisUserName(user), valkeyPasswordsOf(secrets)[user]);

function ownVariables(name: ServiceName, layout: Layout): Variables {
  const { secrets, ports, healthPorts } = layout;
  const databaseUrl = (role: DatabaseRole) => urlAs(layout.ownerDatabaseUrl, role);
  const program = programOf(name);
  switch (program) {
    case 'simulator':
      return { GW_SIM_LISTEN: `127.0.0.1:${ports.simulator}` };
    case 'ext-authz':
      return {
        GW_DATABASE_URL: databaseUrl('ext_authz'),
        GW_REDIS_URL: redisUrlOf(layout, 'ext_authz'),
        GW_AUTHZ_LISTEN: internalAddress(layout, name),
        GW_AUTHZ_HEALTH_LISTEN: `127.0.0.1:${healthPorts[name as InstanceName]}`,
        GW_AUTHZ_INSTANCES: String(layout.instances),
        GW_INTERNAL_TOKEN: secrets.internalToken,
        GW_KEY_PEPPER: secrets.pepper,
        GW_WITNESS_KEY: secrets.witnessKey,
      };
    case 'receipt-sidecar':
      return {
        GW_REDIS_URL: redisUrlOf(layout, 'sidecar'),
        GW_SIDECAR_LISTEN: internalAddress(layout, name),
        GW_SIDECAR_HEALTH_LISTEN: `127.0.0.1:${healthPorts[name as InstanceName]}`,
        GW_SIDECAR_INSTANCES: String(layout.instances),
        GW_SIDECAR_DRAIN_S: String(layout.drainS ?? quickDrainS),
        GW_SPOOL_DIR: join(layout.dir, name.replace(program, 'spool')),
        GW_INTERNAL_TOKEN: secrets.internalToken,
        GW_IDEMPOTENCY_KEY: secrets.idempotencyKey,
        GW_LEDGER_ENTRY_KEY: secrets.entryKey,
      };
    case 'control-plane':
      return {
        ...databaseSettings(databaseUrl),
        GW_REDIS_URL: redisUrlOf(layout, 'control_plane'),
        GW_CONTROL_INTERNAL_LISTEN: internalAddress(layout, name),
        GW_CONTROL_LISTEN: onLoopback(layout.furtherPorts[name as ControlPlaneName] ?? ports.control),
        // It listens on none of these; it refuses them as providers.
        GW_PUBLIC_LISTEN: [ports.public, ...Object.values(layout.furtherPorts)].map(onLoopback).join(','),
        GW_AUTHZ_HEALTH_LISTEN: Object.values(healthPorts).map(onLoopback).join(','),
        GW_PROBE_LISTEN: internalAddress(layout, 'envoy-probe'),
        GW_INTERNAL_TOKEN: secrets.internalToken,
        GW_CONTROL_URL: `http://127.0.0.1:${ports.control}`,
        GW_FIRST_OPERATOR_CREDENTIAL: secrets.operatorCredential,
        GW_FIRST_OPERATOR_TOKEN: secrets.operatorToken,
        // It lies in this checkout, readable by its owner alone, as the stores do.
        GW_FIRST_OPERATOR_TOKEN_DAYS: 'unlimited',
        GW_KEY_PEPPER: secrets.pepper,
        ...ledgerKeysOf(secrets),
        GW_CREDENTIALS_KEY: secrets.credentialsKey,
        GW_NAMES_KEY: secrets.namesKey,
        GW_IDEMPOTENCY_KEY: secrets.idempotencyKey,
        ...(layout.providerKey === null ? {} : { GW_CREDENTIAL_CUSTOM: layout.providerKey }),
      };
  }
}

/** The whole environment of a service. */
export function environmentOf(name: ServiceName, layout: Layout): Variables {
  const program = programOf(name);
  return {
    ...memoryOf[program].env,
    GW_BASE_URL: layout.publicUrl,
    ...fromUser(passedOn),
    ...(program === 'control-plane' ? controlPlaneSettings(layout) : settingsFor(program)),
    ...ownVariables(name, layout),
    ...(program === 'simulator' ? {} : certificateVariables(name, layout)),
    ...layout.overrides[program],
    ...(name === program ? {} : layout.overrides[name]),
  };
}

export function servicePlan(name: ServiceName, layout: Layout): PartPlan {
  const logFile = logFileOf(layout.logs, name);
  const program = programOf(name);
  return {
    name,
    logFile,
    start: async () => {
      // Anew, since a test gives a part other settings by starting it again.
      const env = environmentOf(name, layout);
      // A killed process leaves its socket file behind, which would be in the way.
      rmSync(join(layout.sockets, `${name}.sock`), { force: true });
      const args = [...memoryOf[program].args, join(layout.checkoutOf(name), 'dist', `${program}.js`)];
      return orderly(await startChild({ command: process.execPath, args, env, logFile }), layout);
    },
  };
}

const quickDrainS = 5;
/** For what a part does beside waiting for its calls, and for a drain that is quick. */
const endWithinMs = 10_000;

export function orderly(child: Running['child'], { drainS }: Pick<Layout, 'drainS'>): Running {
  return { child, stop: () => child.stop('SIGTERM', (drainS ?? 0) * 1000 + endWithinMs) };
}

export const valkeyPasswordsOf = (secrets: Secrets): ValkeyPasswords => ({
  owner: secrets.valkeyOwner,
  ext_authz: secrets.valkeyExtAuthz,
  sidecar: secrets.valkeySidecar,
  control_plane: secrets.valkeyControlPlane,
});

type StoreLayout = Pick<Layout, 'dir' | 'logs' | 'sockets' | 'durable' | 'secrets'>;

/** `onUrl` is told where the database is, each time that it was started. */
export function storePlan(
  name: 'postgres' | 'valkey',
  layout: StoreLayout,
  watcher: { readonly log: (line: string) => void; readonly onUrl: (url: string) => void },
): PartPlan {
  const start = (options: ServiceOptions) =>
    name === 'postgres' ? startPostgres(options) : startValkey(options, valkeyPasswordsOf(layout.secrets));
  const logFile = logFileOf(layout.logs, name);
  return {
    name,
    logFile,
    start: async () => {
      const service = await start({
        dir: join(layout.dir, name),
        socketDir: join(layout.sockets, name),
        log: watcher.log,
        logFile,
        durable: layout.durable,
      });
      watcher.onUrl(service.url);
      return service;
    },
  };
}
