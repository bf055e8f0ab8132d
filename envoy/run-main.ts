/**
 * Runs Envoy with the command line in the arguments. Envoy itself aborts all calls on SIGTERM; here SIGTERM or SIGINT drains it first,
 * and a second signal stops it immediately.
 *
 * It has no imports of ours except these two, because Envoy's image contains only these files.
 */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { envoyFolder, followCertificateBundle } from './certificate-bundle.ts';
import { drainEnvoy } from './drain.ts';

const [command = 'envoy', ...args] = process.argv.slice(2);

function seconds(name: string, fallback: number): number {
  const text = process.env[name];
  const value = text ? Number(text) : fallback;
  if (Number.isSafeInteger(value) && value >= 0) return value;
  process.stderr.write(`${name} is not a whole number. Example: ${name}=${fallback}\n`);
  process.exit(1);
}

const adminSocket = process.env.GW_ENVOY_ADMIN_SOCKET || '/run/gw/envoy-admin.sock';
const noticeS = seconds('GW_ENVOY_DRAIN_NOTICE_S', 5);
const drainS = seconds('GW_ENVOY_DRAIN_S', 600);
const hurry = new AbortController();
let ending = false;

const tell = (text: string) => void process.stderr.write(`${text}\n`);
followCertificateBundle({ environment: process.env, adminSocket, tell });
// Its working directory is another one.
const placed = args.map((arg, at) => (args[at - 1] === '-c' ? resolve(arg) : arg));
const envoy = spawn(command, placed, { stdio: 'inherit', cwd: envoyFolder(adminSocket) });
envoy.once('error', (error) => {
  process.stderr.write(`Envoy could not be started: ${error.message}\n`);
  process.exit(1);
});
envoy.once('exit', (code, signal) => {
  if (signal !== null) process.stderr.write(`Envoy was ended by ${signal}\n`);
  process.exit(code ?? 1);
});

function end(): void {
  if (ending) return hurry.abort();
  ending = true;
  void drainEnvoy({ adminSocket, noticeS, drainS, hurry: hurry.signal }).then(() => envoy.kill('SIGTERM'));
}
process.on('SIGTERM', end);
process.on('SIGINT', end);
