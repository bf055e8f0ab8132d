/**
 * The whole gateway on one machine: Postgres, Valkey, the services, a simulated provider and Envoy.
 *
 * Invariant: `startStack` returns when every part answers, or leaves nothing running. No provider is asked for a completion.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { elementAt } from '@gw/contract/internal/defined';
import { envoyBinary } from './binaries.ts';
import { planEnvoy } from './envoy-plan.ts';
import { seedDatabase } from './migrate-and-seed.ts';
import { freePorts, takePort } from './ports.ts';
import { type CustomProvider, guardOf, providerModels } from './provider.ts';
import { everyPartAnswers, until } from './readiness.ts';
import type { DemoKeys } from './run-file.ts';
import { loadSecrets } from './secrets.ts';
import { serviceUrlOf } from './services/postgres.ts';
import { removeSocketFolder, socketFolder } from './services/socket-folder.ts';
import { takeOverSpools } from './spools.ts';
import {
  type InstanceName,
  instanceNames,
  type Layout,
  logFileOf,
  type PartName,
  partNames,
  servicePlan,
  sharedNames,
  storePlan,
  type Variables,
} from './stack-plans.ts';
import { type Part, type PartPlan, supervise } from './supervise.ts';

export interface StackOptions {
  /** Holds data, logs, secrets and sockets. Data and secrets in it are used again. */
  readonly dir: string;
  /** Default: a free one. */
  readonly publicPort?: number;
  /** Default: a free one. */
  readonly controlPort?: number;
  /** How many there are of ext-authz and of the sidecar. Default 1. */
  readonly instances?: number;
  /** An OpenAI-compatible server in place of the simulated provider. */
  readonly provider?: CustomProvider;
  /** Certificate files for the public listener; else it speaks plain HTTP. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  /** More variables for single parts. */
  readonly env?: Readonly<Partial<Record<PartName, Variables>>>;
  /** Parts that are not started; then nothing waits for the others to answer. */
  readonly without?: readonly PartName[];
  /** False: data need not survive a crash. Default true. */
  readonly durable?: boolean;
  /** Progress and what happens to the parts, one line each. */
  readonly log: (line: string) => void;
  /** Told when the process ids have changed. */
  readonly onChange?: () => void;
  /** Gives up a start that is under way. */
  readonly signal?: AbortSignal;
}

export interface Stack {
  readonly publicUrl: string;
  readonly controlUrl: string;
  /** Part → process id, of those that run at this moment. */
  pids(): Record<string, number>;
  readonly keys: DemoKeys;
  readonly operatorToken: string;
  /** A model that can chat, or null if the provider lists none. */
  readonly model: string | null;
  /** As the services connect. */
  readonly databaseUrl: string;
  /** Of the role that owns the tables. */
  readonly ownerDatabaseUrl: string;
  readonly redisUrl: string;
  /** Base URL of the simulated provider. */
  readonly simulatorUrl: string;
  /** `GET <url>/healthz` of the two services that only speak gRPC else, and of their further instances. */
  readonly healthUrls: Readonly<
    Record<'ext-authz' | 'receipt-sidecar', string> & Partial<Record<InstanceName, string>>
  >;
  /** Folder of the Unix sockets; `envoy-admin.sock` is Envoy's. */
  readonly sockets: string;
  readonly logs: string;
  part(name: PartName): Part;
  stop(): Promise<void>;
}

/** Ends first what takes requests, and last what keeps data. */
const stopOrder = (instances: readonly InstanceName[]): readonly (readonly PartName[])[] => [
  ['envoy'],
  [...instances, 'control-plane'],
  ['simulator'],
  ['valkey', 'postgres'],
];

export async function startStack(options: StackOptions): Promise<Stack> {
  const parts = new Map<PartName, Part>();
  const sockets = socketFolder(join(options.dir, 'sock'));
  const shared = sharedInstances(options.instances ?? 1);
  const stop = async () => {
    for (const names of stopOrder(shared)) await Promise.all(names.map((name) => parts.get(name)?.stop()));
    removeSocketFolder(sockets);
  };
  try {
    const stack = await assemble(options, { sockets, shared }, parts);
    return { ...stack, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it only starts the parts, in the order in which they need each other.
async function assemble(
  options: StackOptions,
  { sockets, shared }: { readonly sockets: string; readonly shared: readonly InstanceName[] },
  parts: Map<PartName, Part>,
): Promise<Omit<Stack, 'stop'>> {
  const { log } = options;
  const logs = prepareLogs(options.dir, shared);
  const watcher = { log, changed: () => options.onChange?.() };
  const without = new Set<PartName>(options.without ?? []);
  if (options.provider) without.add('simulator');
  const start = async (name: PartName, plan: PartPlan) => {
    options.signal?.throwIfAborted();
    if (!without.has(name)) parts.set(name, await supervise(plan, watcher));
  };

  const ports = await takePorts(options, shared);
  const binary = without.has('envoy') ? Promise.resolve('') : envoyBinary(log);
  const asking = { dir: options.dir, guard: guardOf(ports), log };
  const models = options.provider ? providerModels(options.provider, asking) : Promise.resolve([]);
  const urls = { postgres: '', valkey: '' };
  const store = (name: 'postgres' | 'valkey') => {
    const told = (url: string) => {
      urls[name] = url;
    };
    const layout = { dir: options.dir, logs, sockets, durable: options.durable ?? true };
    return start(name, storePlan(name, layout, { log, onUrl: told }));
  };
  await settled([store('postgres'), store('valkey'), binary, models]);

  const secrets = loadSecrets(options.dir);
  const publicUrl = `${options.tls ? 'https' : 'http'}://127.0.0.1:${ports.public}`;
  const layout: Layout = {
    dir: options.dir,
    logs,
    sockets,
    secrets,
    ports,
    instances: options.instances ?? 1,
    healthPorts: ports.health,
    publicUrl,
    databaseUrl: serviceUrlOf(urls.postgres),
    ownerDatabaseUrl: urls.postgres,
    redisUrl: urls.valkey,
    providerKey: options.provider?.key ?? null,
    overrides: options.env ?? {},
    durable: options.durable ?? true,
  };
  const [keys] = await settled([
    seedDatabase({ layout, provider: options.provider ?? null, models: await models }),
    start('simulator', servicePlan('simulator', layout)),
  ]);
  takeOverSpools(options.dir, layout.instances);
  await settled((['control-plane', ...shared] as const).map((name) => start(name, servicePlan(name, layout))));
  const patience = { parts, ...(options.signal ? { signal: options.signal } : {}) };
  if (parts.has('control-plane')) {
    // Envoy asks the control plane for its clusters at once, and after that only with pauses.
    await until('the control plane to listen', () => existsSync(join(sockets, 'control-plane.sock')), patience);
  }
  if (!without.has('envoy')) await start('envoy', planEnvoy(layout, await binary, options.tls ?? null));
  const isWhole = [...partNames, ...shared].every(
    (name) => parts.has(name) || (name === 'simulator' && options.provider),
  );
  const healthUrls = healthUrlsOf(shared, ports.health);
  const simulatorUrl = `http://127.0.0.1:${ports.simulator}`;
  const model = isWhole
    ? await everyPartAnswers(
        {
          publicUrl,
          key: keys.enterprise,
          healthUrls: Object.values(healthUrls).filter((url) => url !== undefined),
          ...(parts.has('simulator') && { simulatorUrl }),
        },
        patience,
      )
    : null;
  return {
    publicUrl,
    controlUrl: `http://127.0.0.1:${ports.control}`,
    pids: () => pidsOf(parts),
    keys,
    operatorToken: secrets.operatorToken,
    model,
    databaseUrl: layout.databaseUrl,
    ownerDatabaseUrl: layout.ownerDatabaseUrl,
    redisUrl: layout.redisUrl,
    simulatorUrl,
    healthUrls,
    sockets,
    logs,
    part: (name) => {
      const part = parts.get(name);
      if (!part) throw new Error(`${name} is not part of this stack.`);
      return part;
    },
  };
}

/** Like Promise.all, but waits for all of them even if one fails, so that nothing is started behind our back. */
async function settled<T extends readonly unknown[]>(
  tasks: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  await Promise.allSettled(tasks);
  return (await Promise.all(tasks)) as unknown as T;
}

/** Also removes the logs of instances that there were more of the last time. */
function prepareLogs(dir: string, shared: readonly InstanceName[]): string {
  const logs = join(dir, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const accessLog = join(logs, 'access.log');
  const ours = [...partNames, ...shared].map((name) => logFileOf(logs, name));
  for (const file of readdirSync(logs).map((name) => join(logs, name)))
    if (/-\d+\.log$/.test(file) && !ours.includes(file)) rmSync(file);
  for (const file of [...ours, accessLog]) if (existsSync(file)) truncateSync(file);
  // Envoy would make it for everybody to read.
  closeSync(openSync(accessLog, 'a', 0o600));
  chmodSync(accessLog, 0o600);
  return logs;
}

async function takePorts(options: StackOptions, shared: readonly InstanceName[]) {
  const [simulator = 0, freePublic = 0, freeControl = 0, ...health] = await freePorts(3 + shared.length);
  return {
    public: await takePort(options.publicPort || freePublic, '--port'),
    control: await takePort(options.controlPort || freeControl, '--control-port'),
    simulator,
    health: Object.fromEntries(shared.map((name, index) => [name, elementAt(health, index)])),
  };
}

const sharedInstances = (count: number): InstanceName[] => sharedNames.flatMap((name) => instanceNames(name, count));

function healthUrlsOf(shared: readonly InstanceName[], ports: Layout['healthPorts']): Stack['healthUrls'] {
  const urls = shared.map((name) => [name, `http://127.0.0.1:${ports[name]}`] as const);
  return Object.fromEntries(urls) as Record<InstanceName, string>;
}

function pidsOf(parts: ReadonlyMap<PartName, Part>): Record<string, number> {
  const running = [...parts].flatMap(([name, { pid }]) => (pid === null ? [] : [[name, pid] as const]));
  return Object.fromEntries(running);
}
