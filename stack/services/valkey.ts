/**
 * A Valkey of our own in a folder: reached through a Unix socket that only we may enter, without a TCP port.
 *
 * It keeps an append-only file that is synced every second, so it survives a killed process but may lose the last
 * second at a power cut; and it refuses writes when memory is full rather than dropping somebody's limits.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type RedisUser, redisOwner, redisUsersFile } from '@gw/contract/internal/redis-users';
import { valkeyBinary } from '../machine/binaries.ts';
import { startChild } from '../machine/child.ts';
import { Problem } from '../machine/problem.ts';
import type { Service, ServiceOptions } from './service.ts';
import { removeSocketFolder, socketFolder } from './socket-folder.ts';

const startLimitMs = 60_000;

export interface ValkeyPasswords extends Readonly<Record<RedisUser, string>> {
  readonly owner: string;
}

/** The url of a user for that without one. */
export const valkeyUrlAs = (url: string, user: string, password: string): string =>
  `${url}?username=${user}&password=${password}`;

export interface ValkeyOptions extends ServiceOptions {
  /** The port of its bus in cluster mode. It then refuses commands whose keys two nodes may have. */
  readonly clusterPort?: number;
}

/**
 * The url is the path of the socket, which ioredis takes as it is. With `passwords` each part is a user of its own, and nobody gets in
 * without one.
 */
export async function startValkey(options: ValkeyOptions, passwords: ValkeyPasswords | null = null): Promise<Service> {
  const binary = await valkeyBinary(options.log);
  const data = join(options.dir, 'data');
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const sockets = socketFolder(options.socketDir ?? join(options.dir, 'sock'));
  const socket = join(sockets, 'valkey.sock');
  const logFile = options.logFile ?? join(options.dir, 'valkey.log');
  const child = await startChild({
    command: binary,
    args: [...settings(data, socket, options), ...(passwords ? usersIn(options.dir, passwords) : [])],
    env: { LC_ALL: 'C', PATH: process.env.PATH ?? '', TZ: 'UTC' },
    logFile,
  });
  const deadline = Date.now() + startLimitMs;
  while (!(await answersPing(socket, passwords?.owner))) {
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

function settings(data: string, socket: string, { durable = true, clusterPort }: ValkeyOptions): string[] {
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
    ...(clusterPort && { 'cluster-enabled': 'yes', 'cluster-port': String(clusterPort), bind: '127.0.0.1' }),
  };
  return Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Writes the users into a file that only we may read, since everybody may read arguments. It has no password but its hash. */
function usersIn(dir: string, passwords: ValkeyPasswords): string[] {
  const file = join(dir, 'users.acl');
  const hashed = (password: string) => `#${createHash('sha256').update(password).digest('hex')}`;
  writeFileSync(
    file,
    redisUsersFile((user) => hashed(passwords[user])),
    { mode: 0o600 },
  );
  return ['--aclfile', file];
}

/** False too while Valkey is still reading its append-only file. */
function answersPing(socket: string, password: string | undefined): Promise<boolean> {
  const login = password === undefined ? '' : `AUTH ${redisOwner} ${password}\r\n`;
  const lines = password === undefined ? 1 : 2;
  let heard = '';
  return new Promise((resolve) => {
    const connection = createConnection(socket);
    const close = (answered: boolean) => {
      connection.destroy();
      resolve(answered);
    };
    connection.once('connect', () => connection.write(`${login}PING\r\n`));
    connection.on('data', (reply) => {
      heard += reply.toString();
      if (heard.split('\r\n').length > lines) close(heard.includes('+PONG'));
    });
    connection.once('error', () => close(false));
    connection.setTimeout(1000, () => close(false));
  });
}
