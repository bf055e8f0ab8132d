/** Ports on the loopback interface. */
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';
import { Problem } from './machine/problem.ts';

/** Listens for a moment; rejects if the port cannot be had. */
function listen(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve());
    });
  });
}

/** `wanted` if it is free; `option` is named when it is in use. */
export async function takePort(wanted: number, option: string): Promise<number> {
  try {
    await listen(wanted);
    return wanted;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Problem(`Port ${wanted} is in use. End what listens there, or choose another with ${option}.`);
    }
    if (code === 'EACCES') throw new Problem(`Port ${wanted} is reserved for root. Choose another with ${option}.`);
    throw cause;
  }
}

/**
 * Where free ports are looked for: below the range from which systems take the ports of outgoing connections, so that
 * no connection takes one between our look and the part that listens on it.
 */
const lowest = 20_000;
const highest = 32_000;

/** A few free ports, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count && tries < 100 * count; tries += 1) {
    const port = randomInt(lowest, highest);
    if (await isFree(port)) ports.add(port);
  }
  if (ports.size < count) throw new Problem(`There are no free ports between ${lowest} and ${highest}.`);
  return [...ports];
}

/** From our look until the part listens that gets it. */
const claimedMs = 120_000;

/**
 * Several gateways may be starting at once, in processes that know nothing of each other: who looks claims the port of UDP with the same
 * number, which nobody else needs, and which the system takes back from a process that ends.
 */
function claim(port: number): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').unref();
    socket.once('error', () => {
      socket.close();
      resolve(null);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(socket));
  });
}

async function isFree(port: number): Promise<boolean> {
  const claimed = await claim(port);
  if (claimed === null) return false;
  try {
    await listen(port);
    setTimeout(() => claimed.close(), claimedMs).unref();
    return true;
  } catch {
    claimed.close();
    return false;
  }
}
