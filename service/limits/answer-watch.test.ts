import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SilentError, watchAnswers } from './answer-watch.ts';

const now = () => performance.now();
const never = () => new Promise<never>(() => {});

describe('the watch over answers', () => {
  test('passes on what was answered, and every error', async () => {
    const { wait } = watchAnswers({ now, patienceMs: 10_000 });
    expect(await wait(async () => 5)).toBe(5);
    await expect(wait(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  });

  test('gives all up together, also those who have not waited as long', async () => {
    const { wait } = watchAnswers({ now, patienceMs: 100 });
    const first = wait(never);
    await delay(70);
    const second = wait(never).catch((error: unknown) => error);
    await expect(first).rejects.toThrow(SilentError);
    expect(await Promise.race([second, immediate('still waits')])).toBeInstanceOf(SilentError);
  });

  test('is patient with one that is slow while others are answered', async () => {
    const { wait } = watchAnswers({ now, patienceMs: 150 });
    const slow = wait(() => delay(500, 'slow'));
    for (let asked = 0; asked < 20; asked += 1) await wait(() => delay(20));
    expect(await slow).toBe('slow');
  });

  test('does not take a sleep of this process for silence', async () => {
    const { wait } = watchAnswers({ now, patienceMs: 50 });
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    const [[peer]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
    const answer = wait(async () => String((await once(socket, 'data'))[0]));
    peer.write('here');
    const until = now() + 200;
    while (now() < until);
    expect(await answer).toBe('here');
    socket.destroy();
    server.close();
  });
});
