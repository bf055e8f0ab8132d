/** Stands for Envoy's listener of test calls: passes each one on to the host that it names, over plain HTTP. */
import { createServer, request as send } from 'node:http';

/** Returns what ends it. */
export async function startStandInEnvoy(socketPath: string): Promise<() => Promise<void>> {
  const server = createServer((request, reply) => {
    const { headers, method, url } = request;
    const onward = send(`http://${headers.host}${url}`, { method, headers, agent: false }, (answer) => {
      reply.writeHead(Number(answer.statusCode), answer.headers);
      answer.pipe(reply);
    });
    onward.once('error', () => {
      reply.writeHead(503, { 'x-gw-probe-failure': 'UF' });
      reply.end(JSON.stringify({ details: null, transport: 'delayed_connect_error:_Connection_refused' }));
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return () => new Promise((resolve) => server.close(() => resolve()));
}
