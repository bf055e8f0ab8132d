/** Encodes commands for Redis in RESP: an array of strings with their lengths in bytes. */

import type { Logger } from './log.ts';
import type { Reply } from './redis-replies.ts';

/** Strings are sent as UTF-8. */
export type Command = readonly (string | Buffer)[];

export interface RedisWriter {
  /** Sends commands in order. Rejects if a reply is an error, on a time-out, or without a connection. */
  send(...commands: readonly Command[]): Promise<readonly Reply[]>;
  /** The same without a time-out, for callers with their own: a failed command was not sent, or the connection broke. */
  readonly patient: Pick<RedisWriter, 'send'>;
  readonly isReady: () => boolean;
  /** Reconnects immediately, unless there are several servers. */
  renew(): void;
  /** Resolves when it is ready, or after `waitMs`, since a service also starts without Redis. */
  untilReady(waitMs: number): Promise<void>;
  /** Commands sent before are still written. */
  stop(): void;
}

export interface RedisWriterOptions {
  /** `redis://…`, `rediss://…`, or the path of a Unix socket, perhaps with `?username=…&password=…`. */
  readonly url: string;
  readonly log: Logger;
  /** Infinity: none. */
  readonly commandTimeoutMs: number;
}

/** Returns Latin-1, one character for each byte, as in replies. */
export function textOf(command: Command): string {
  let text = `*${command.length}\r\n`;
  for (const part of command) {
    const bytes = bytesOf(part);
    text += `$${bytes.length}\r\n${bytes}\r\n`;
  }
  return text;
}

function bytesOf(part: string | Buffer): string {
  if (typeof part !== 'string') return part.toString('latin1');
  return Buffer.byteLength(part) === part.length ? part : Buffer.from(part).toString('latin1');
}
