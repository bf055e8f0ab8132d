/** A gateway behind TLS, asked as official clients ask: HTTP/2 chosen in the handshake, many calls on one connection, or HTTP/1.1. */
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { makeCertificate } from '@gw/testing/envoy/certificate';
import { forFile } from '@gw/testing/for-file';
import { afterAll, beforeAll, expect } from 'vitest';
import type { WireReply } from './http1-wire.ts';
import { openCallers } from './rights.ts';
import type { Trick } from './tricks.ts';
import { type Attempt, attemptsOf, faultOf, headersOf, limitedRoutes, tryAll } from './walk.ts';
import { startWatchedGateway } from './watched-gateway.ts';

export type Ask = (attempt: Attempt) => Promise<WireReply>;

/** To be called once by a file of tests. */
export function routesBehindTls() {
  const certificate = makeCertificate('gw');
  const gateway = forFile(() => startWatchedGateway(certificate));
  const callers = forFile(openCallers);
  let session: ClientHttp2Session;
  beforeAll(() => {
    session = connect(`https://127.0.0.1:${gateway.port}`, { ca: certificate.certificate });
  });
  afterAll(() => session?.close());

  const replyFrom = (headers: object, status: number, chunks: readonly Buffer[]): WireReply => ({
    status,
    headers: headers as Record<string, string>,
    text: Buffer.concat(chunks).toString(),
  });

  function overHttp2(attempt: Attempt): Promise<WireReply> {
    const { method, target, body } = attempt.request;
    const headers: OutgoingHttpHeaders = {};
    for (const [name, value] of headersOf(attempt)) {
      const before = headers[name.toLowerCase()];
      headers[name.toLowerCase()] = before === undefined ? value : [before, value].flat().map(String);
    }
    return new Promise((resolve, reject) => {
      const stream = session.request({ ':method': method, ':path': target, ...headers });
      const chunks: Buffer[] = [];
      let seen: Record<string, unknown> = {};
      stream.on('response', (received) => {
        seen = { ...received };
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => resolve(replyFrom(seen, Number(seen[':status']), chunks)));
      stream.end(body ?? undefined);
    });
  }

  function overHttp1(attempt: Attempt): Promise<WireReply> {
    const { method, target: path, body } = attempt.request;
    const headers = Object.fromEntries(headersOf(attempt));
    const where = { host: '127.0.0.1', port: gateway.port, ca: certificate.certificate, agent: false } as const;
    return new Promise((resolve, reject) => {
      const outgoing = httpsRequest({ ...where, method, path, headers }, (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => resolve(replyFrom(incoming.headers, incoming.statusCode ?? 0, chunks)));
      });
      outgoing.on('error', reject);
      outgoing.end(body ?? undefined);
    });
  }

  return {
    overHttp1,
    overHttp2,
    /** Every route by each caller with each trick. */
    tryRoutes: async (ask: Ask, tricks: readonly Trick[]): Promise<void> => {
      const attempts = limitedRoutes.flatMap(([, route]) => attemptsOf(route, callers.forRoute(route), tricks));
      await tryAll({ gateway, callers }, attempts, async (attempt) => faultOf(attempt, await ask(attempt)));
      expect(session.alpnProtocol).toBe('h2');
    },
  };
}
