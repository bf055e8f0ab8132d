/** Records the commands of a Valkey by MONITOR over a socket of our own: ioredis breaks if the first command comes in one piece with the OK. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';

export interface HeardCommands {
  /** The words of each command, with spaces between them; without those that scripts give. */
  readonly seen: string[];
  stop(): void;
}

/** `url`: `redis://…`, or the path of a Unix socket. Resolves when it hears. */
export async function hearCommands(url: string): Promise<HeardCommands> {
  const { hostname: host, port } = new URL(url.includes('://') ? url : 'redis://unix');
  const socket = url.includes('://') ? createConnection({ host, port: Number(port) }) : createConnection(url);
  const lines = createInterface({ input: socket });
  const seen: string[] = [];
  socket.write('MONITOR\r\n');
  await once(lines, 'line');
  lines.on('line', (line) => {
    if (/^\+[\d.]+ \[\d+ lua\]/.test(line)) return;
    seen.push([...line.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, word]) => word).join(' '));
  });
  return { seen, stop: () => socket.destroy() };
}
