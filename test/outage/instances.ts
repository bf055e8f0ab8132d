/** The instances of a service as Envoy sees them. */
import { request } from 'node:http';
import { join } from 'node:path';
import type { Stack } from '@gw/stack/stack';
import type { EnvoyName } from '@gw/stack/stack-plans';

export interface Instance {
  /** Envoy gives it calls. */
  readonly isIn: boolean;
  /** Calls that it was given so far. */
  readonly calls: number;
}

type Service = 'ext-authz' | 'receipt-sidecar' | 'control-plane';

/** In the order of their numbers, as this Envoy sees them. */
export async function instancesOf(
  { sockets }: Pick<Stack, 'sockets'>,
  service: Service,
  envoy: EnvoyName = 'envoy',
): Promise<Instance[]> {
  const text = await readFrom(join(sockets, `${envoy}-admin.sock`), '/clusters');
  const valuesOf = (field: string) => {
    const lines = text.matchAll(new RegExp(`^${service.replace('-', '_')}::(\\S+)::${field}::(.*)$`, 'gm'));
    return [...lines].map(([, socket = '', value = '']) => ({ socket, value }));
  };
  const flags = new Map(valuesOf('health_flags').map(({ socket, value }) => [socket, value]));
  return valuesOf('rq_total')
    .sort((a, b) => a.socket.length - b.socket.length || a.socket.localeCompare(b.socket))
    .map(({ socket, value }) => ({ isIn: flags.get(socket) === 'healthy', calls: Number(value) }));
}

/** A value from Envoy's admin interface. */
export function readFrom(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, headers: { host: 'localhost' } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        text += data;
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end();
  });
}
