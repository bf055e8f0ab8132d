/** `./gw up`: runs the whole stack in this process, or with `--detach` in one that stays behind. */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join, relative } from 'node:path';
import { errorText } from '@gw/contract/internal/error-text';
import { ignoredByUp } from '@gw/contract/internal/ignored-settings';
import { refusedHost } from '@gw/contract/internal/refused-host';
import { inCheckout, stateFolder } from '@gw/stack/checkout';
import { openLog } from '@gw/stack/child';
import { Problem } from '@gw/stack/problem';
import type { CustomProvider } from '@gw/stack/provider';
import { type PublicTls, publicTls } from '@gw/stack/public-tls';
import {
  claimFolder,
  endLeftovers,
  findSupervisor,
  type RunFile,
  readRunFile,
  releaseFolder,
  writeRunFile,
} from '@gw/stack/run-file';
import { type Stack, startStack } from '@gw/stack/stack';

interface Options {
  readonly detach: boolean;
  readonly json: boolean;
  readonly publicPort: number;
  readonly controlPort: number;
  readonly instances: number;
  readonly provider: CustomProvider | null;
  readonly tls: PublicTls | null;
}

const dir = stateFolder;

/** The options as they were typed. */
interface Typed {
  readonly detach?: boolean;
  readonly json?: boolean;
  readonly port: string;
  readonly controlPort: string;
  readonly instances: string;
  readonly provider?: string;
}

const readOptions = ({ controlPort, detach, instances, json, port, provider }: Typed): Options => ({
  detach: detach ?? false,
  json: json ?? false,
  publicPort: portNumber('--port', port),
  controlPort: portNumber('--control-port', controlPort),
  instances: instanceCount(instances),
  provider: provider === undefined ? null : readProvider(provider),
  tls: publicTls(process.env),
});

/** 0 stands for any free port. */
function portNumber(option: string, text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new Problem(`${option} takes a port, for example ${option} 9080.`);
  return port;
}

/** More than a machine has use for would only take memory. */
const mostInstances = 16;

function instanceCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,2}$/.test(text) || count < 1 || count > mostInstances)
    throw new Problem(`--instances takes a number from 1 to ${mostInstances}, for example --instances 2.`);
  return count;
}

function readProvider(url: string): CustomProvider {
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new Problem('--provider takes an address, for example --provider https://llm.example.com/v1.');
  }
  const refused = refusedHost(url);
  if (refused !== null) throw new Problem(`--provider names a host that the gateway never calls (${refused}).`);
  return { url: url.replace(/\/$/, ''), key: process.env.GW_PROVIDER_KEY || null };
}

export async function up(typed: Typed): Promise<number> {
  const options = readOptions(typed);
  if (findSupervisor(dir) !== null) return alreadyRunning(options);
  if (options.detach) return detach(options);
  return supervise(options);
}

function alreadyRunning(options: Options): number {
  const run = readRunFile(dir);
  if (!run) throw new Problem('Another ./gw up is starting. To follow it, run ./gw logs; to stop it, run ./gw down.');
  process.stderr.write('The gateway is already running.\n');
  announce(run, options);
  return 0;
}

function announce(run: RunFile, options: Options): void {
  // A stack that is already running may have been started with other options.
  const tls = run.publicUrl.startsWith('https:') ? options.tls : null;
  process.stdout.write(options.json ? `${JSON.stringify(run)}\n` : welcome(run, options.detach, tls));
}

/** A message from the process that stays in the background to the one that started it. */
type Message = { readonly line: string } | { readonly ready: true } | { readonly failed: string };

async function detach(options: Options): Promise<number> {
  const log = openLog(join(dir, 'logs', 'supervisor.log'));
  const args = process.argv.slice(2).filter((arg) => arg !== '--detach');
  const child = spawn(process.execPath, [...process.execArgv, inCheckout('dist', 'cli.js'), ...args], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const outcome = await new Promise<string | null>((resolve) => {
    child.on('message', (message: Message) => {
      if ('line' in message) process.stderr.write(`${message.line}\n`);
      else resolve('failed' in message ? message.failed : null);
    });
    child.once('exit', () =>
      resolve('The gateway stopped while it was starting. For the reason, run ./gw logs supervisor.'),
    );
  });
  // An open channel would keep us alive.
  if (child.connected) child.disconnect();
  child.unref();
  if (outcome !== null) throw new Problem(outcome);
  const run = readRunFile(dir);
  if (!run) throw new Problem('The gateway started but did not write .gw/run.json.');
  announce(run, options);
  return 0;
}

async function supervise(options: Options): Promise<number> {
  await endLeftovers(dir);
  claimFolder(dir);
  const stopping = new AbortController();
  const asked = untilAskedToStop(stopping);
  const log = (line: string) => {
    if (process.connected) process.send?.({ line } satisfies Message);
    process.stderr.write(`${line}\n`);
  };
  let stack: Stack | null = null;
  const note = () => {
    if (stack && !stopping.signal.aborted) writeRunFile(dir, describe(stack));
  };
  try {
    const startedAt = Date.now();
    log('Starting…');
    for (const text of ignoredByUp(process.env)) log(text);
    stack = await startStack({
      dir,
      publicPort: options.publicPort,
      controlPort: options.controlPort,
      instances: options.instances,
      ...(options.provider ? { provider: options.provider } : {}),
      ...(options.tls ? { tls: options.tls } : {}),
      log,
      onChange: note,
      signal: stopping.signal,
    });
    note();
    log(`Ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
    if (process.connected) handOver();
    else announce({ ...describe(stack), startMarks: {} }, options);
    await asked;
    process.stderr.write('\nStopping…\n');
    return 0;
  } catch (cause) {
    if (stopping.signal.aborted) return 130;
    if (process.connected) process.send?.({ failed: errorText(cause) } satisfies Message);
    throw cause;
  } finally {
    await stack?.stop();
    releaseFolder(dir);
    if (process.connected) process.disconnect();
  }
}

/** From here on the process that started us may go. */
function handOver(): void {
  process.removeAllListeners('disconnect');
  process.send?.({ ready: true } satisfies Message);
}

/** Resolves at Ctrl-C, `./gw down`, a closed terminal, or when the one who waits for our start is gone. */
function untilAskedToStop(stopping: AbortController): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      stopping.abort();
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    if (process.connected) process.once('disconnect', stop);
  });
}

function describe(stack: Stack): Omit<RunFile, 'startMarks'> {
  const { publicUrl, controlUrl, model, logs, keys, operatorToken } = stack;
  return {
    publicUrl,
    controlUrl,
    model,
    logs,
    keys,
    operatorToken,
    pids: { supervisor: process.pid, ...stack.pids() },
  };
}

/** For a shell: a single quote would end its string. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A command for a shell that asks for a completion. */
function curlFor(run: Pick<RunFile, 'publicUrl' | 'model' | 'keys'>, tls: PublicTls | null): string {
  const body = { model: run.model, messages: [{ role: 'user', content: 'Hello' }] };
  const url = new URL(`${run.publicUrl}/v1/chat/completions`);
  // A client goes by the name in the certificate, wherever the listener is.
  const elsewhere = tls?.name && tls.name !== url.hostname ? `${tls.name}:${url.port}:${url.hostname}` : null;
  if (elsewhere && tls?.name) url.hostname = tls.name;
  return [
    `curl -sS ${url}`,
    ...(tls ? [`  --cacert ${quoted(tls.certFile)}`] : []),
    ...(elsewhere ? [`  --resolve ${elsewhere}`] : []),
    `  -H 'Authorization: Bearer ${run.keys.audit}'`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n');
}

/** The text that `./gw up` prints when it is ready. */
function welcome(run: RunFile, detached: boolean, tls: PublicTls | null = null): string {
  const secrets = relative('', join(stateFolder, 'secrets.json'));
  return [
    '',
    `Base URL      ${run.publicUrl}/v1`,
    `Demo key      ${run.keys.audit}`,
    `Dashboard     ${run.controlUrl} (choose Operator, then admin@localhost with \`operatorCredential\` from ${secrets}; ./gw admin needs no login)`,
    '',
    ...(run.model === null ? ['The provider lists no model yet.'] : ['Try it:', '', curlFor(run, tls)]),
    '',
    detached
      ? './gw status, ./gw logs, ./gw down'
      : 'Ctrl-C stops everything. In another terminal: ./gw status, ./gw logs',
    '',
  ].join('\n');
}
