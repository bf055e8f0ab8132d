/**
 * The stacks that the suites of `test/` share, one for each worker; a suite that breaks parts for good starts its own
 * (`startStack`).
 *
 * Suites get theirs from `shared-stack.ts`. The ids of the processes change when a part is killed, so they are read from
 * `run.json` when they are needed (`partPid`).
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inCheckout } from '@gw/stack/checkout';
import { freePorts } from '@gw/stack/ports';
import { type RunFile, writeRunFile } from '@gw/stack/run-file';
import { type Stack, startStack } from '@gw/stack/stack';
import type { TestProject } from 'vitest/node';
import prepare from './prepared.ts';
import { nothingRefused } from './refused-rights.ts';

/** The suites' view of the stack; plain data, because they run in other processes. */
export interface SharedStack {
  /** Folder of the stack: `run.json`, logs, data. */
  readonly dir: string;
  /** Without `/v1`. */
  readonly publicUrl: string;
  readonly controlUrl: string;
  readonly keys: RunFile['keys'];
  readonly operatorToken: string;
  readonly model: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly simulatorUrl: string;
  readonly healthUrls: Stack['healthUrls'];
  /** Folder of the Unix sockets of the internal listeners and of Envoy's admin interface. */
  readonly sockets: string;
  readonly logs: string;
  /** Where its sidecar asks for a judgement, with this key. Nobody listens there unless a test does. */
  readonly classifier: { readonly port: number; readonly key: string };
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  prepare();
  const started: Started[] = [];
  const stop = async () => {
    await Promise.all(started.map((each) => each.stop()));
  };
  try {
    // One after the other: two that start at once on two processors take longer than they need.
    for (let worker = 1; worker <= project.config.maxWorkers; worker++) started.push(await start(worker));
  } catch (error) {
    await stop();
    throw error;
  }
  project.provide(
    'stacks',
    started.map((each) => each.shared),
  );
  return stop;
}

interface Started {
  readonly shared: SharedStack;
  stop(): Promise<void>;
}

async function start(worker: number): Promise<Started> {
  const dir = testFolder(worker);
  let stack: Stack | null = null;
  const note = () => {
    if (!stack) return;
    const { publicUrl, controlUrl, model, logs, keys, operatorToken } = stack;
    writeRunFile(dir, { publicUrl, controlUrl, model, logs, keys, operatorToken, pids: stack.pids() });
  };
  const [port = 0] = await freePorts(1);
  const classifier = { port, key: 'a-key-of-the-classifier' };
  const started = await startStack({
    dir,
    durable: false,
    env: {
      'receipt-sidecar': {
        GW_CLASSIFIER_URL: `http://127.0.0.1:${port}/v1/moderations`,
        GW_CLASSIFIER_KEY: classifier.key,
        GW_CLASSIFIER_MODEL: 'guard',
      },
    },
    log: (line) => console.log(line),
    onChange: note,
  });
  stack = started;
  note();
  if (started.model === null) throw new Error('The simulated provider lists no model.');
  return {
    shared: { ...shared(started, dir, started.model), classifier },
    stop: async () => {
      stack = null;
      await nothingRefused(started).finally(() => started.stop());
      if (process.env.GW_TEST_DIR === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Given by `./gw test`, which keeps the logs of a failure; else made and removed here. */
function testFolder(worker: number): string {
  const given = process.env.GW_TEST_DIR;
  if (given === undefined) {
    mkdirSync(inCheckout('.gw'), { recursive: true });
    return mkdtempSync(inCheckout('.gw', 'test-'));
  }
  const dir = join(given, `stack-${worker}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}

function shared(stack: Stack, dir: string, model: string): Omit<SharedStack, 'classifier'> {
  const { publicUrl, controlUrl, keys, operatorToken, databaseUrl, redisUrl, simulatorUrl, healthUrls } = stack;
  const urls = { publicUrl, controlUrl, databaseUrl, redisUrl, simulatorUrl, healthUrls };
  return { ...urls, dir, keys, operatorToken, model, sockets: stack.sockets, logs: stack.logs };
}
