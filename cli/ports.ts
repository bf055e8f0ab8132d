/** Ports on the loopback interface. */
import { createServer } from 'node:net';
import { Problem } from './problem.ts';

function listen(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      const taken = typeof address === 'object' && address ? address.port : port;
      server.close(() => resolve(taken));
    });
  });
}

/** `wanted` if it is free, and any free port for 0. `option` is named when the port is in use. */
export async function takePort(wanted: number, option: string): Promise<number> {
  try {
    return await listen(wanted);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Problem(`Port ${wanted} is in use. End what listens there, or choose another with ${option}.`);
    }
    if (code === 'EACCES') throw new Problem(`Port ${wanted} is reserved for root. Choose another with ${option}.`);
    throw cause;
  }
}

/** A few free ports, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await listen(0));
  return [...ports];
}
