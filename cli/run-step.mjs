/** Runs the programs that prepare a checkout, shows how long each takes, and explains what went wrong. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** @param {string[]} path */
export const at = (...path) => join(root, ...path);

export class Failure extends Error {}

/**
 * Shows how long a step takes: counting on a terminal, else one line at its end.
 *
 * @param {string} title
 * @returns {(outcome: string) => void}
 */
function progress(title) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const line = () => process.stderr.write(`\r${title}… ${seconds()} s`);
  if (process.stderr.isTTY) line();
  else process.stderr.write(`${title}…\n`);
  const ticker = process.stderr.isTTY ? setInterval(line, 1000) : null;
  return (outcome) => {
    if (ticker) clearInterval(ticker);
    process.stderr.write(process.stderr.isTTY ? `\r${title}… ${outcome}\n` : `${title}… ${seconds()} s\n`);
  };
}

/**
 * @param {string} title
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Readonly<Record<string, string>>} environment
 * @param {typeof progress} show
 */
export async function run(title, command, args, environment = {}, show = progress) {
  const done = show(title);
  const started = Date.now();
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const code = await new Promise((resolve) => {
    child.once('error', (cause) => {
      output += cause.message;
      resolve(null);
    });
    child.once('close', resolve);
  });
  done(code === 0 ? `${Math.round((Date.now() - started) / 1000)} s` : 'failed');
  if (code === 0) return;
  const log = at('.gw', 'logs', 'prepare.log');
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, output, { mode: 0o600 });
  throw new Failure(explain(title, output, relative(process.cwd(), log)));
}

/**
 * @param {string} title
 * @param {string} output
 * @param {string} log
 */
function explain(title, output, log) {
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network (?:request|timeout)/i.test(output)) {
    return `${title}: the package registry could not be reached. Check network and proxy (npm config get proxy) and start again.`;
  }
  if (/ENOSPC/.test(output)) return `${title}: the disk is full. Free some space and start again.`;
  if (/EACCES|EPERM/.test(output))
    return `${title}: no permission to write into ${root}. Make the checkout yours and start again.`;
  return `${title} failed; the reason is in ${log}.`;
}
