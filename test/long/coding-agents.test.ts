/**
 * Claude Code and Codex, as npm has them, each do a small piece of work through the gateway: they read a file, edit it, and end. The simulator
 * answers with the calls of their tools, by their own API and translated from each of the others. They ask nobody but the gateway.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { pageSchema } from '@gw/contract/list';
import { receiptSchema } from '@gw/contract/receipt';
import { inCheckout } from '@gw/stack/checkout';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, type OwnGateway, startOwnGateway } from '../outage/own-gateway.ts';
import { addProvider } from './frameworks/backends.ts';
import { nodeRelease, watchClients } from './frameworks/newest.ts';
import { nodePackages } from './frameworks/packages.ts';

let gateway: OwnGateway;
let packages: string;
let outside: Awaited<ReturnType<typeof startOutside>>;

const apis = ['chat', 'responses', 'messages'] as const;

beforeAll(async () => {
  packages = await nodePackages('agents');
  gateway = await startOwnGateway();
  outside = await startOutside();
  const url = `${gateway.stack.simulatorUrl}/v1`;
  for (const api of apis)
    await addProvider(gateway, {
      id: `sim-${api}`,
      kind: 'simulator',
      url,
      model: `sim/${api}`,
      inner: 'sim-small',
      apis: [api],
    });
}, 1_200_000);
afterAll(async () => {
  outside?.server.close();
  await gateway?.stop();
});

/** A proxy for all that is not on this machine: it lets nobody through, and notes who was asked for. */
async function startOutside(): Promise<{ readonly server: Server; readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, reply) => {
    asked.push(request.url ?? '');
    reply.writeHead(403).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

interface Agent {
  readonly npm: string;
  /** The calls of its tools that read the file and edit it. */
  script(file: string): readonly { readonly name: string; readonly input: object }[];
  /** Writes its settings into its home. Returns how it is started. */
  start(task: Task): {
    readonly program: string;
    readonly args: readonly string[];
    readonly env?: Record<string, string>;
  };
  /** The last text that it prints. */
  lastText(output: string): unknown;
}

interface Task {
  readonly home: string;
  readonly model: string;
  readonly script: string;
}
const prompt = 'Change hello to goodbye in a.txt.';
const patch = ['*** Begin Patch', '*** Update File: a.txt', '@@', '-hello world', '+goodbye world', '*** End Patch'];

const agents: Readonly<Record<string, Agent>> = {
  'Claude Code': {
    npm: '@anthropic-ai/claude-code',
    script: (file) => [
      { name: 'Read', input: { file_path: file } },
      { name: 'Edit', input: { file_path: file, old_string: 'hello', new_string: 'goodbye' } },
    ],
    start: ({ model, script }) => ({
      program: join('@anthropic-ai', 'claude-code', 'cli-wrapper.cjs'),
      args: ['-p', prompt, '--output-format', 'json', '--permission-mode', 'acceptEdits'],
      env: {
        ANTHROPIC_BASE_URL: gateway.stack.publicUrl,
        ANTHROPIC_AUTH_TOKEN: gateway.stack.keys.enterprise,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_SMALL_FAST_MODEL: model,
        ANTHROPIC_CUSTOM_HEADERS: `x-sim-tokens-per-second: 0\nx-sim-script: ${script}`,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    }),
    lastText: (output) => (JSON.parse(output) as { result: unknown }).result,
  },
  Codex: {
    npm: '@openai/codex',
    script: () => [
      { name: 'exec_command', input: { cmd: 'cat a.txt' } },
      { name: 'exec_command', input: { cmd: `apply_patch <<'EOF'\n${patch.join('\n')}\nEOF` } },
    ],
    start: ({ home, model, script }) => {
      const folder = join(home, '.codex');
      mkdirSync(folder);
      writeFileSync(
        join(folder, 'config.toml'),
        `${codexConfig()}\n[model_providers.gw.http_headers]
x-sim-tokens-per-second = "0"
x-sim-script = ${JSON.stringify(script)}
`,
      );
      const unasked = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '--json'];
      return { program: join('@openai', 'codex', 'bin', 'codex.js'), args: ['exec', '-m', model, ...unasked, prompt] };
    },
    lastText: (output) => /"type":"agent_message","text":"([^"]+)"/.exec(output)?.[1],
  },
};

/** As docs/frameworks.md shows it. */
function codexConfig(): string {
  const page = readFileSync(inCheckout('docs', 'frameworks.md'), 'utf8');
  const [, config = ''] = /^```toml\n([\s\S]+?)^```/m.exec(page) ?? [];
  expect(config).toContain('http://127.0.0.1:8080');
  return config.replaceAll('http://127.0.0.1:8080', gateway.stack.publicUrl);
}

async function run(agent: Agent, model: string) {
  const home = join(gateway.dir, 'agents', model, String(Date.now()));
  const work = join(home, 'work');
  mkdirSync(work, { recursive: true });
  const file = join(work, 'a.txt');
  writeFileSync(file, 'hello world\n');
  const { args, env, program } = agent.start({ home, model, script: JSON.stringify(agent.script(file)) });
  const running = promisify(execFile)(process.execPath, [join(packages, 'node_modules', program), ...args], {
    cwd: work,
    timeout: 120_000,
    killSignal: 'SIGKILL',
    env: {
      PATH: [dirname(process.execPath), process.env.PATH].join(':'),
      HOME: home,
      LANG: 'C.UTF-8',
      GW_KEY: gateway.stack.keys.enterprise,
      HTTPS_PROXY: outside.url,
      HTTP_PROXY: outside.url,
      NO_PROXY: '127.0.0.1',
      ...env,
    },
  });
  running.child.stdin?.end();
  const { stdout } = await running;
  return { said: agent.lastText(stdout), file: readFileSync(file, 'utf8') };
}

const receiptsOf = async (model: string) => {
  const { json } = await gateway.client.get('/v1/gw/receipts?limit=100');
  return pageSchema(receiptSchema)
    .parse(json)
    .data.filter((receipt) => receipt.model === model);
};

watchClients(
  Object.entries(agents).map(([name, { npm }]) => ({ name, releases: () => [nodeRelease(packages, npm)] })),
  (_, suite) => suite,
);

describe.each(Object.entries(agents))('%s', (_, agent) => {
  test.each(apis)('edits a file with a model whose provider speaks %s', async (api) => {
    const model = `sim/${api}`;
    const before = new Set((await receiptsOf(model)).map(({ id }) => id));
    const { file, said } = await run(agent, model);
    expect({ file, said }).toEqual({ file: 'goodbye world\n', said: expect.stringContaining('simulated answer') });
    // Each turn has a receipt: one for each call of a tool, and that of the last text.
    const made = async () => (await receiptsOf(model)).filter(({ id }) => !before.has(id));
    await eventually('the ledger to have each turn', async () => (await made()).length === 3);
    for (const receipt of await made()) expect(receipt).toMatchObject({ status: 'complete', provider: `sim-${api}` });
    expect(outside.asked).toEqual([]);
  });
});
