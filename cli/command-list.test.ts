import { expect, test } from 'vitest';
import { runCommand } from './command-list.ts';

async function said(...args: string[]): Promise<string> {
  let out = '';
  expect(await runCommand(args, (text) => (out += text))).toBe(0);
  return out;
}
const commandsIn = (help: string): string[] =>
  [...(help.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);

/** Follows the help of each command down to the last one. */
async function helpBelow(...path: string[]): Promise<number> {
  const help = await said(...path, '--help');
  expect(help).toContain(`Usage: gw ${path.join(' ')}`.trim());
  const below = commandsIn(help).filter((name) => name !== 'help' && name !== 'complete');
  let count = 1;
  for (const name of below) count += await helpBelow(...path, name);
  return count;
}

test('every command has its help, those of admin too', async () => {
  expect(await helpBelow()).toBeGreaterThan(100);
  expect(await said()).toBe(await said('help'));
  expect(await said('admin')).toBe(await said('help', 'admin'));
  expect(await said('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.each([
  ['status --jsn', "unknown option '--jsn' (Did you mean --json?)"],
  ['--json status', "unknown option '--json'"],
  ['stauts', "unknown command 'stauts' (Did you mean status?)"],
  ['down now', 'too many arguments'],
  ['doctor --fast', "unknown option '--fast'"],
  ['bench --rounds 0', 'It must be a whole number from 1 to 20.'],
  ['verify', 'Name the file of a pack, or of a kept receipt'],
  ['admin acounts list', "unknown command 'acounts' (Did you mean accounts?)"],
  ['admin keys create acct --nam x', "unknown option '--nam' (Did you mean --name?)"],
  ['admin keys create acct', '--name is missing'],
  ['admin keys create acct --name x --name y', 'It is given twice.'],
  ['admin accounts list --limit', "unknown option '--limit'"],
])('gw %s is refused in one line', async (line, message) => {
  const refusal = await runCommand(line.split(' '), () => {}).catch(String);
  expect(refusal).toContain(message);
  expect(String(refusal).split('\n')).toHaveLength(1);
});
