/**
 * Every example of docs/frameworks.md as its page shows it, against the simulator and two servers that nobody here wrote:
 * what it prints is the receipt that the ledger has.
 */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { backends, startBackends } from './frameworks/backends.ts';
import { watchClients } from './frameworks/newest.ts';
import { groupOf, installPackages, type Packages, releasesOf, unpinnedNodePackages } from './frameworks/packages.ts';
import { type Example, examples, inSections, inTables } from './frameworks/page.ts';

let gateway: OwnGateway;
let servers: Awaited<ReturnType<typeof startBackends>>;
let packages: Packages;

beforeAll(async () => {
  packages = await installPackages();
  gateway = await startOwnGateway();
  servers = await startBackends(gateway, packages);
}, 1_200_000);
afterAll(async () => {
  await servers?.stop();
  await gateway?.stop();
});

/** All that it prints. */
async function run(example: Example, model: string): Promise<string> {
  const { language, code } = example;
  const text = code.replaceAll('http://127.0.0.1:8080', gateway.stack.publicUrl).replaceAll('sim-small', model);
  const python = language === 'js' ? '' : packages.python[groupOf(example)];
  // Frameworks keep files in the home of their user, so they get one here.
  const home = join(gateway.dir, 'home');
  mkdirSync(home, { recursive: true });
  const env = {
    PATH: [dirname(python || process.execPath), process.env.PATH].join(delimiter),
    HOME: home,
    LANG: 'C.UTF-8',
    GW_KEY: gateway.stack.keys.enterprise,
    LLM_USER_PATH: join(home, model.replace('/', '-')),
    // Nothing is fetched from, or told to, anybody outside.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    HAYSTACK_TELEMETRY_ENABLED: 'False',
  };
  const [command, ...args] = {
    js: [process.execPath, '--input-type=module', '--eval', text],
    python: [python, '-B', '-c', text],
    sh: ['sh', '-e', '-c', text],
  }[language] as [string, ...string[]];
  const cwd = language === 'js' ? packages.node : home;
  const running = promisify(execFile)(command, args, { cwd, env, timeout: 300_000 });
  // `llm` reads what is piped into it, to its end.
  running.child.stdin?.end();
  const { stdout, stderr } = await running;
  return stdout + stderr;
}

watchClients(
  examples.map((example) => ({ name: example.framework, releases: () => releasesOf(example, packages) })),
  (name) => name.replace(/^'(.*)' finds the receipts .*/, '$1'),
);

const printed = /(rcpt_[0-9a-f-]+)\W+(?:energy_wh\W+)?(\d[\d.e-]*)/g;

async function ledgerHas(id: string) {
  const { status, json } = await gateway.client.get(`/v1/gw/receipts/${id}`);
  expect(status, id).toBe(200);
  return json;
}

describe.each(Object.entries(backends))('%s', (provider, model) => {
  test.each(examples)('$framework finds the receipts of a JSON reply and of a stream', async (example) => {
    const before = await servers.streamsOfMock();
    const output = await run(example, model);
    const found = new Map([...output.matchAll(printed)].map(([, id = '', energyWh]) => [id, Number(energyWh)]));
    expect(found.size, output).toBe(example.finds);
    for (const [id, energy_wh] of found) {
      expect(energy_wh).toBeGreaterThan(0);
      expect(await ledgerHas(id)).toMatchObject({ id, energy_wh, model, provider, status: 'complete' });
    }
    const streams = (await servers.streamsOfMock()).slice(before.length);
    expect(streams.sort()).toEqual(provider === 'aimock' ? [false, true].slice(0, example.finds) : []);
  });
});

test('the tables of the page have a row for each section, and each package that an example names is pinned', () => {
  expect(inTables.toSorted()).toEqual(inSections.toSorted());
  expect(unpinnedNodePackages()).toEqual([]);
});
