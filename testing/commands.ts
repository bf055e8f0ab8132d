/** Records the commands of a Valkey by MONITOR over a socket of our own: ioredis breaks if the first command comes in one piece with the OK. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';

export interface HeardCommands {
  /** The words of each command, with spaces between them; without those that scripts give. */
  readonly seen: string[];
  stop(): void;
}

/** `url`: `redis://…`, or the path of a Unix socket, perhaps with a user. Resolves when it hears. */
export async function hearCommands(url: string): Promise<HeardCommands> {
  const { hostname: host, port } = new URL(url.includes('://') ? url : 'redis://unix');
  const [path = url, query] = url.split('?', 2);
  const socket = url.includes('://') ? createConnection({ host, port: Number(port) }) : createConnection(path);
  const lines = createInterface({ input: socket });
  const seen: string[] = [];
  const asked = new URLSearchParams(query);
  const user = asked.get('username');
  if (user !== null) {
    socket.write(`AUTH ${user} ${asked.get('password')}\r\n`);
    await once(lines, 'line');
  }
  socket.write('MONITOR\r\n');
  await once(lines, 'line');
  lines.on('line', (line) => {
    if (/^\+[\d.]+ \[\d+ lua\]/.test(line)) return;
    seen.push([...line.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, word]) => word).join(' '));
  });
  return { seen, stop: () => socket.destroy() };
}
