/** Kills the supervisor of a gateway, and starts again. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { eventually, isGone, OwnGateway } from './gateway-of-its-own.ts';

const anyPorts = ['--port', '0', '--control-port', '0'];
const gateway = new OwnGateway();
afterAll(() => gateway.dispose());

test('when the supervisor is killed its parts end too, and down cleans up; the next up has the same keys, whatever fails or is barred', async () => {
  expect(await gateway.gw('up', '--detach', ...anyPorts)).toMatchObject({ code: 0 });
  const first = gateway.run();
  const admin = async (command: string) =>
    expect(await gateway.gw('admin', ...command.split(' '))).toMatchObject({ code: 0 });
  await admin('providers add away --name Away --url https://nobody.invalid/v1');
  // The first in the list of models.
  await admin('models add a-broken-one --owned-by nobody --kind chat --total 8 --active 8');
  await admin('deployments add away --provider away --region us-east --pue 1.2 --model a-broken-one');
  await admin('accounts suspend acct_demo_enterprise --reason test');
  process.kill(first.pids.supervisor ?? 0, 'SIGKILL');
  expect((await gateway.gw('down')).code).toBe(0);
  await eventually('every part to end', () => Object.values(first.pids).every(isGone));
  expect((await gateway.gw('status')).out).toBe('The gateway is not running. To start it, run ./gw up.\n');

  const { child, exited, run: second } = await gateway.foreground(...anyPorts);
  expect(second.keys).toEqual(first.keys);
  const headers = { authorization: `Bearer ${first.keys.audit}` };
  expect((await fetch(`${second.publicUrl}/v1/models`, { headers })).status).toBe(200);
  expect(second.operatorToken).toBe(first.operatorToken);
  expect((await gateway.gw('admin', 'operators', 'whoami')).out).toContain('op_first');

  // Ctrl-C ends one in the foreground in order, even if nobody reads its output any more.
  child.kill('SIGINT');
  expect(await exited).toBe(0);
  expect(Object.values(second.pids).filter((pid) => !isGone(pid))).toEqual([]);
  const log = readFileSync(join(gateway.dir, 'logs', 'postgres.log'), 'utf8');
  expect(log.trimEnd().split('\n').at(-1)).toContain('database system is shut down');
  expect(existsSync(join(gateway.dir, 'run.json'))).toBe(false);
});
