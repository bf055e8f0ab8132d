/**
 * A Valkey of our own in a folder: reached through a Unix socket that only we may enter, without a TCP port.
 *
 * It keeps an append-only file that is synced every second, so it survives a killed process but may lose the last
 * second at a power cut; and it refuses writes when memory is full rather than dropping somebody's limits.
 */
import { mkdirSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { valkeyBinary } from '../machine/binaries.ts';
import { startChild } from '../machine/child.ts';
import { Problem } from '../machine/problem.ts';
import type { Service, ServiceOptions } from './service.ts';
import { removeSocketFolder, socketFolder } from './socket-folder.ts';

const startLimitMs = 60_000;

/** The url is the path of the socket, which ioredis takes as it is. */
export async function startValkey(options: ServiceOptions): Promise<Service> {
  const binary = await valkeyBinary(options.log);
  const data = join(options.dir, 'data');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const sockets = socketFolder(options.socketDir ?? join(options.dir, 'sock'));
  const socket = join(sockets, 'valkey.sock');
  const logFile = options.logFile ?? join(options.dir, 'valkey.log');
  const child = await startChild({
    command: binary,
    args: settings(data, socket, options.durable ?? true),
    env: { LC_ALL: 'C', PATH: process.env.PATH ?? '', TZ: 'UTC' },
    logFile,
  });
  const deadline = Date.now() + startLimitMs;
  while (!(await answersPing(socket))) {
    if (!child.alive() || Date.now() > deadline) {
      await child.stop();
      throw new Problem(`Valkey did not start; its log is ${logFile}.`);
    }
    await delay(20);
  }
  return {
    url: socket,
    child,
    pid: child.pid,
    stop: async () => {
      await child.stop();
      removeSocketFolder(sockets);
    },
  };
}

function settings(data: string, socket: string, durable: boolean): string[] {
  const values = {
    port: '0',
    unixsocket: socket,
    unixsocketperm: '700',
    dir: data,
    save: '',
    appendonly: durable ? 'yes' : 'no',
    appendfsync: 'everysec',
    'maxmemory-policy': 'noeviction',
    'always-show-logo': 'no',
  };
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

/** False too while Valkey is still reading its append-only file. */
function answersPing(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = createConnection(socket);
    const close = (answered: boolean) => {
      connection.destroy();
      resolve(answered);
    };
    connection.once('connect', () => connection.write('PING\r\n'));
    connection.once('data', (reply) => close(reply.toString().startsWith('+PONG')));
    connection.once('error', () => close(false));
    connection.setTimeout(1000, () => close(false));
  });
}
