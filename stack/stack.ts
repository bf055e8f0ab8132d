/**
 * The whole gateway on one machine: Postgres, Valkey, the services, a simulated provider and Envoy.
 *
 * Invariant: `startStack` returns when every part answers, or leaves nothing running. No provider is asked for a completion.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { elementAt } from '@gw/contract/internal/defined';
import { redisOwner } from '@gw/contract/internal/redis-users';
import { bundleNotice, findCertificateBundle } from '@gw/envoy/certificate-bundle';
import { accessLog, planEnvoy } from './envoy-plan.ts';
import { logFolder, prepareLogs } from './logs.ts';
import { envoyBinary } from './machine/binaries.ts';
import { checkout } from './machine/checkout.ts';
import { seedDatabase } from './migrate-and-seed.ts';
import { type CustomProvider, guardOf, providerModels } from './provider.ts';
import { everyPartAnswers, until } from './readiness.ts';
import type { DemoKeys } from './run-file.ts';
import { loadSecrets } from './secrets.ts';
import { removeSocketFolder, socketFolder } from './services/socket-folder.ts';
import { valkeyUrlAs } from './services/valkey.ts';
import { takeOverSpools } from './spools.ts';
import { type Names, namesOf, stopOrder, takePorts, type Wanted } from './stack-names.ts';
import {
  type InstanceName,
  type Layout,
  type PartName,
  partNames,
  servicePlan,
  storePlan,
  type Variables,
} from './stack-plans.ts';
import { type Part, type PartPlan, supervise } from './supervise.ts';

export interface StackOptions extends Wanted {
  /** Holds data, logs, secrets and sockets. Data and secrets in it are used again. */
  readonly dir: string;
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
  /**
   * How long an orderly end of a sidecar or of Envoy waits for calls that are under way, seconds. Default: an Envoy ends at
   * once, and a sidecar waits for 5 s.
   */
  readonly drainS?: number;
  /** The folder of a built checkout that a part is run from, asked at each of its starts: for another release. Default: this one. */
  readonly checkoutOf?: (name: PartName | 'migrate') => string;
  /** Progress and what happens to the parts, one line each. */
  readonly log: (line: string) => void;
  /** Told when the process ids have changed. */
  readonly onChange?: () => void;
  /** Gives up a start that is under way. */
  readonly signal?: AbortSignal;
}

export interface Stack {
  /** The address of the first Envoy. */
  readonly publicUrl: string;
  /** The address of each Envoy. */
  readonly publicUrls: readonly string[];
  readonly controlUrl: string;
  /** Part → process id, of those that run at this moment. */
  pids(): Record<string, number>;
  readonly keys: DemoKeys;
  readonly operatorToken: string;
  /** A model that can chat, or null if the provider lists none. */
  readonly model: string | null;
  /** The owner's, who may do everything; each part connects as a role of its own (`urlAs`). */
  readonly databaseUrl: string;
  /** The owner's, as that of the database. */
  readonly redisUrl: string;
  /** Base URL of the simulated provider. */
  readonly simulatorUrl: string;
  /** `GET <url>/healthz` of the two services that only speak gRPC else, and of their further instances. */
  readonly healthUrls: Readonly<
    Record<'ext-authz' | 'receipt-sidecar', string> & Partial<Record<InstanceName, string>>
  >;
  /** Folder of the Unix sockets; `envoy-admin.sock` is Envoy's, `envoy-2-admin.sock` that of the second one. */
  readonly sockets: string;
  readonly logs: string;
  part(name: PartName): Part;
  stop(): Promise<void>;
}

export async function startStack(options: StackOptions): Promise<Stack> {
  const parts = new Map<PartName, Part>();
  const sockets = socketFolder(join(options.dir, 'sock'));
  const names = namesOf(options);
  const stop = async () => {
    for (const each of stopOrder(names)) await Promise.all(each.map((name) => parts.get(name)?.stop()));
    removeSocketFolder(sockets);
  };
  try {
    const stack = await assemble(options, { sockets, names }, parts);
    return { ...stack, stop };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it only starts the parts, in the order in which they need each other.
async function assemble(
  options: StackOptions,
  { sockets, names }: { readonly sockets: string; readonly names: Names },
  parts: Map<PartName, Part>,
): Promise<Omit<Stack, 'stop'>> {
  const { log } = options;
  const { shared, envoys, controlPlanes } = names;
  const allNames = [...new Set<PartName>([...partNames, ...shared, ...envoys, ...controlPlanes])];
  const accessLogs = envoys.map((name) => accessLog(name, logFolder(options.dir)));
  const logs = prepareLogs(options.dir, allNames, accessLogs);
  const watcher = { log, changed: () => options.onChange?.() };
  const without = new Set<PartName>(options.without ?? []);
  if (options.provider) without.add('simulator');
  const start = async (name: PartName, plan: PartPlan) => {
    options.signal?.throwIfAborted();
    if (!without.has(name)) parts.set(name, await supervise(plan, watcher));
  };

  if (!without.has('envoy')) log(bundleNotice(findCertificateBundle(process.env)));
  const ports = await takePorts(options, names);
  const binary = without.has('envoy') ? Promise.resolve('') : envoyBinary(log);
  const asking = { dir: options.dir, guard: guardOf(ports), log };
  const models = options.provider ? providerModels(options.provider, asking) : Promise.resolve([]);
  const secrets = loadSecrets(options.dir);
  const urls = { postgres: '', valkey: '' };
  const store = (name: 'postgres' | 'valkey') => {
    const told = (url: string) => {
      urls[name] = url;
    };
    const layout = { dir: options.dir, logs, sockets, durable: options.durable ?? true, secrets };
    return start(name, storePlan(name, layout, { log, onUrl: told }));
  };
  await settled([store('postgres'), store('valkey'), binary, models]);

  const publicUrls = envoys.map((name) => {
    const port = ports.further[name] ?? ports.public;
    return `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  });
  const publicUrl = elementAt(publicUrls, 0);
  const layout: Layout = {
    dir: options.dir,
    logs,
    sockets,
    secrets,
    ports,
    furtherPorts: ports.further,
    internalPorts: ports.internal,
    internalTls: options.internalTls ?? null,
    instances: options.instances ?? 1,
    envoys: envoys.length,
    controlPlanes: controlPlanes.length,
    healthPorts: ports.health,
    publicUrl,
    ownerDatabaseUrl: urls.postgres,
    valkeyUrl: urls.valkey,
    providerKey: options.provider?.key ?? null,
    overrides: options.env ?? {},
    durable: options.durable ?? true,
    drainS: options.drainS ?? null,
    checkoutOf: options.checkoutOf ?? (() => checkout),
  };
  const [keys] = await settled([
    seedDatabase({ layout, provider: options.provider ?? null, models: await models }),
    start('simulator', servicePlan('simulator', layout)),
  ]);
  takeOverSpools(options.dir, layout.instances);
  // The store of objects (stack-plans.ts): a directory that is not there counts as unavailable, since it may be a disk that is not mounted.
  mkdirSync(join(options.dir, 'objects'), { recursive: true, mode: 0o700 });
  await settled([...controlPlanes, ...shared].map((name) => start(name, servicePlan(name, layout))));
  const patience = { parts, ...(options.signal ? { signal: options.signal } : {}) };
  if (parts.has('control-plane')) {
    // Envoy asks the control plane for its clusters at once, and after that only with pauses.
    const listens = (name: PartName) =>
      !parts.has(name) || ports.internal[name] !== undefined || existsSync(join(sockets, `${name}.sock`));
    await until('the control plane to listen', () => controlPlanes.every(listens), patience);
  }
  if (!without.has('envoy')) {
    const tls = options.tls ?? null;
    for (const name of envoys) await start(name, planEnvoy(name, layout, await binary, tls));
  }
  const isWhole = allNames.every((name) => parts.has(name) || (name === 'simulator' && options.provider));
  const healthUrls = healthUrlsOf(shared, ports.health);
  const simulatorUrl = `http://127.0.0.1:${ports.simulator}`;
  const model = isWhole
    ? await everyPartAnswers(
        {
          publicUrls,
          key: keys.enterprise,
          healthUrls: Object.values(healthUrls).filter((url) => url !== undefined),
          ...(parts.has('simulator') && { simulatorUrl }),
        },
        patience,
      )
    : null;
  return {
    publicUrl,
    publicUrls,
    controlUrl: `http://127.0.0.1:${ports.control}`,
    pids: () => pidsOf(parts),
    keys,
    operatorToken: secrets.operatorToken,
    model,
    databaseUrl: layout.ownerDatabaseUrl,
    redisUrl: valkeyUrlAs(layout.valkeyUrl, redisOwner, secrets.valkeyOwner),
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

function healthUrlsOf(shared: readonly InstanceName[], ports: Layout['healthPorts']): Stack['healthUrls'] {
  const urls = shared.map((name) => [name, `http://127.0.0.1:${ports[name]}`] as const);
  return Object.fromEntries(urls) as Record<InstanceName, string>;
}

function pidsOf(parts: ReadonlyMap<PartName, Part>): Record<string, number> {
  const running = [...parts].flatMap(([name, { pid }]) => (pid === null ? [] : [[name, pid] as const]));
  return Object.fromEntries(running);
}
