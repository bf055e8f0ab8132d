import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, OwnGateway, run } from './gateway-of-its-own.ts';

const anyPorts = ['--port', '0', '--control-port', '0'];

describe('a gateway that stays in the background', () => {
  let gateway: OwnGateway;
  let curl: string;
  beforeAll(async () => {
    gateway = new OwnGateway();
    const { code, out, err } = await gateway.gw('up', '--detach', ...anyPorts);
    expect(code, err).toBe(0);
    curl = out.slice(out.indexOf('curl '), out.indexOf('\n\n./gw status'));
  });
  afterAll(() => gateway.dispose());

  test('the printed curl answers with a receipt and a routing trace', async () => {
    const { out, err } = await run('sh', ['-c', curl], gateway.env);
    const reply = JSON.parse(out || `"${err}"`);
    expect(reply.gw.object).toBe('gw.receipt');
    expect(reply.gw.energy_wh).toBeGreaterThan(0);
    expect(reply.routing_trace.region).toBe(reply.gw.region);
  });

  test('run.json has what scripts need, and only its owner can read it', () => {
    expect(statSync(join(gateway.dir, 'run.json')).mode & 0o777).toBe(0o600);
    const { pids, keys, operatorToken } = gateway.run();
    expect(Object.keys(keys)).toEqual(['audit', 'auditPlus', 'enterprise', 'admin']);
    expect(operatorToken.length).toBeGreaterThanOrEqual(32);
    expect(Object.keys(pids).sort()).toEqual(
      [
        'control-plane',
        'envoy',
        'ext-authz',
        'postgres',
        'receipt-sidecar',
        'simulator',
        'supervisor',
        'valkey',
      ].sort(),
    );
  });

  test('no secret is in the arguments of a process, in a log, or in a file that others can read', () => {
    const { pids, keys, operatorToken } = gateway.run();
    const own = JSON.parse(readFileSync(join(gateway.dir, 'secrets.json'), 'utf8'));
    const secrets = [...Object.values<string>(own), operatorToken, ...Object.values(keys)];
    const leaks = (text: string) => secrets.filter((secret) => text.includes(secret));
    if (process.platform === 'linux') {
      for (const pid of Object.values(pids)) expect(leaks(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))).toEqual([]);
    }
    const logs = join(gateway.dir, 'logs');
    for (const name of readdirSync(logs)) expect(leaks(readFileSync(join(logs, name), 'utf8')), name).toEqual([]);
    for (const name of ['secrets.json', 'keys.json', 'envoy.json']) {
      expect(statSync(join(gateway.dir, name)).mode & 0o077, name).toBe(0);
    }
  });

  test('status tells what runs; a part that is killed comes back, and so do the calls', async () => {
    const before = gateway.run().pids;
    for (const name of ['receipt-sidecar', 'ext-authz', 'envoy', 'valkey', 'postgres', 'control-plane']) {
      process.kill(before[name] ?? 0, 'SIGKILL');
      await eventually(`another ${name}`, () => (gateway.run().pids[name] ?? before[name]) !== before[name]);
    }
    await eventually('every part to answer', async () => (await gateway.gw('status')).code === 0);
    const { out } = await gateway.gw('status', '--json');
    expect(JSON.parse(out)).toMatchObject({ running: true, answers: true, publicUrl: gateway.run().publicUrl });
    await eventually('a completion', async () =>
      (await run('sh', ['-c', curl], gateway.env)).out.includes('gw.receipt'),
    );
  });

  test('the first operator logs in, and admin speaks to the operator API with the token of run.json', async () => {
    const { operatorCredential: credential } = JSON.parse(readFileSync(join(gateway.dir, 'secrets.json'), 'utf8'));
    const login = await fetch(`${gateway.run().controlUrl}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'admin@localhost', credential }),
    });
    expect([login.status, await login.json()]).toMatchObject([200, { id: 'op_first', role: 'admin' }]);
    const { out } = await gateway.gw('admin', 'accounts', 'list', '--json');
    expect(JSON.parse(out)).toMatchObject([{ id: 'acct_demo_audit' }, {}, {}]);
    expect(await gateway.gw('admin', 'audit', 'verify')).toMatchObject({
      code: 0,
      out: expect.stringContaining('no fault'),
    });
    const { code, err } = await gateway.gw('admin', 'accounts', 'show', 'acct_nobody');
    expect([code, err]).toEqual([1, 'gw: There is no such account. (invalid_account)\n']);
  });

  test('a test that is nowhere is no success, and the command says so', async () => {
    const { code, out } = await gateway.gw('test', 'of-this-name-there-is-none');
    expect(code).toBe(1);
    expect(out).toContain('No test was found for of-this-name-there-is-none.');
    expect(out).toMatch(/\n0 passed, 1 failed\n$/);
  });

  test('a second up leaves it as it is and says where it is', async () => {
    const { pids, publicUrl } = gateway.run();
    const { code, out, err } = await gateway.gw('up', '--detach', '--json', ...anyPorts);
    expect(code).toBe(0);
    expect(err).toContain('already running');
    expect(JSON.parse(out)).toMatchObject({ publicUrl, pids });
  });

  test('logs shows the lines of a part, and names the parts if there is none of that name', async () => {
    expect((await gateway.gw('logs', 'ext-authz')).out).toContain('"part":"ext-authz"');
    const { code, err } = await gateway.gw('logs', 'nobody');
    expect(code).toBe(1);
    expect(err).toMatch(/^gw: There is no log of nobody\. Logs: .*receipt-sidecar/);
  });
});

describe('commands without a gateway', () => {
  const gateway = new OwnGateway();
  afterAll(() => gateway.dispose());

  test('a port in use is one line that says what to do', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    for (const detach of [[], ['--detach']]) {
      const { code, out, err } = await gateway.gw('up', ...detach, '--control-port', '0', '--port', String(port));
      expect(code).toBe(1);
      expect(out).toBe('');
      expect(err.split('\n').filter((line) => line.startsWith('gw: '))).toEqual([
        `gw: Port ${port} is in use. End what listens there, or choose another with --port.`,
      ]);
    }
    await new Promise((resolve) => server.close(resolve));
  });

  test('help lists every command that the reference describes', async () => {
    const { out } = await gateway.gw('help');
    const reference = readFileSync(join(import.meta.dirname, '../../docs/commands.md'), 'utf8');
    const listed = [...out.matchAll(/^ {2}([a-z]+) /gm)].map((found) => found[1]);
    const described = [...reference.matchAll(/^\| `\.\/gw ([a-z]+)/gm)].map((found) => found[1]);
    expect(listed.sort()).toEqual(described.sort());
  });

  test.each([
    [['nonsense'], 1, "unknown command 'nonsense'"],
    [['up', '--nonsense'], 1, "Unknown option '--nonsense'"],
    [['up', '--port', '99999'], 1, '--port takes a port'],
    [['up', '--provider', 'nonsense'], 1, '--provider takes an address'],
    [['up', '--provider', 'http://169.254.169.254/v1'], 1, 'a host that the gateway never calls (link-local'],
  ])('%j ends with one clear line', async (args, code, message) => {
    const outcome = await gateway.gw(...args);
    expect(outcome.code).toBe(code);
    expect(outcome.err.toLowerCase()).toContain(message.toLowerCase());
    expect(outcome.err.trim().split('\n')).toHaveLength(1);
  });

  test('test long runs the long tests alone, and one that finds none does not look green', async () => {
    const { code, out } = await gateway.gw('test', 'long', 'of-this-name-there-is-none');
    expect(code).toBe(1);
    expect(out.trimEnd().split('\n').at(-1)).toBe('0 passed, 1 failed');
    expect(out).not.toContain('types');
  });

  test('doctor looks at every tool', async () => {
    const { out } = await gateway.gw('doctor');
    for (const title of ['Node', 'npm', 'Python', 'pip', 'Envoy', 'Valkey', 'Postgres', 'Disk']) {
      expect(out).toMatch(new RegExp(`^(ok|later|MISSING) +${title} `, 'm'));
    }
    const hasOwn = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
    expect(out).toMatch(hasOwn ? /^ok +Node +v24\.\d+\.\d+, from this checkout$/m : /^ok +Node +v/m);
  });
});
