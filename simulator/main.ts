/** Starts the simulated provider and stops it on SIGTERM or SIGINT. */
import type { AddressInfo } from 'node:net';
import { readConfig } from './config.ts';
import { createSimulator } from './server.ts';

const config = readConfig(process.env);
const server = createSimulator(() => performance.now());

const isAddress = (address: AddressInfo | string | null): address is AddressInfo =>
  typeof address === 'object' && address !== null;

server.listen(config.port, config.host, () => {
  const address = server.address();
  const port = isAddress(address) ? address.port : config.port;
  process.stdout.write(`${JSON.stringify({ msg: 'simulator listens', host: config.host, port })}\n`);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
  });
}
