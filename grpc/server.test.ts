/** Our HTTP/2 and gRPC against the peers that others wrote: grpc-js and Node's own http2 (nghttp2). */

import { connect } from 'node:http2';
import { createConnection } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { cases } from '@gw/testing/cases';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { codec } from './messages.ts';
import { type Implementation, implementations, serveEnvoy } from './server.ts';
import type { EnvoyServices, ICheckResponse, IProcessingResponse, ProcessingRequest, RpcServer } from './service.ts';

const token = 'a-token-of-at-least-thirty-two-characters';
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

async function serve(
  services: EnvoyServices,
  faults: unknown[] = [],
  grpcServer: Implementation = 'own',
): Promise<RpcServer & { address: string }> {
  const listener = { listen: '127.0.0.1:0', internalToken: token, grpcServer };
  const server = await serveEnvoy(listener, services, (error) => faults.push(error));
  cleanUp.push(() => server.close(100));
  return { ...server, address: `127.0.0.1:${server.port}` };
}

const checkCodec = codec<object, object>('envoy.service.auth.v3', 'CheckResponse', 'CheckRequest');
const processCodec = codec<IProcessingResponse, object>(
  'envoy.service.ext_proc.v3',
  'ProcessingResponse',
  'ProcessingRequest',
);
const checkPath = '/envoy.service.auth.v3.Authorization/Check';
const processPath = '/envoy.service.ext_proc.v3.ExternalProcessor/Process';
const logPath = '/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs';
const asIs = (bytes: Buffer) => bytes;

function client(address: string): grpc.Client {
  const made = new grpc.Client(address, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  cleanUp.push(() => made.close());
  return made;
}

const metadata = (value: string | null = `Bearer ${token}`): grpc.Metadata => {
  const made = new grpc.Metadata();
  if (value !== null) made.set('x-gw-internal-token', value);
  return made;
};

function check(from: grpc.Client, message: object, sent: grpc.Metadata = metadata()): Promise<ICheckResponse> {
  return new Promise((resolve, reject) => {
    from.makeUnaryRequest(
      checkPath,
      (value: object) => Buffer.from(checkCodec.encode(value)),
      (bytes) => checkCodec.decode(bytes),
      message,
      sent,
      (error, response) => (error ? reject(error) : resolve(response as ICheckResponse)),
    );
  });
}

const echo: EnvoyServices = {
  check: async (request) => ({ status: { code: 0, message: request.attributes?.contextExtensions?.text ?? '' } }),
};
const asking = (text: string) => ({ attributes: { contextExtensions: { text } } });

it('tells when a connection of Envoy has ended, and nothing of one that never had its token', async () => {
  let ended = 0;
  const { address, port } = await serve({
    ...echo,
    connectionEnded: () => {
      ended += 1;
    },
  });
  const from = client(address);
  await check(from, asking('x'));
  const probe = createConnection({ host: '127.0.0.1', port: port ?? 0 });
  await new Promise<void>((resolve) => probe.once('connect', resolve));
  await new Promise<void>((resolve) => probe.once('close', () => resolve()).destroy());
  const stranger = client(address);
  await expect(check(stranger, asking('x'), metadata('Bearer another'))).rejects.toThrow();
  stranger.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(ended).toBe(0);
  from.close();
  await expect.poll(() => ended).toBe(1);
});

describe.each(implementations)('the gRPC server (%s)', (implementation) => {
  const serveOn = (services: EnvoyServices, faults?: unknown[]) => serve(services, faults, implementation);

  it('answers many calls at once, each with its own answer', async () => {
    const { address } = await serveOn(echo);
    const from = client(address);
    const texts = Array.from({ length: 300 }, (_, index) => `call ${index} ${'x'.repeat(index * 7)}`);
    const answers = await Promise.all(texts.map((text) => check(from, asking(text))));
    expect(answers.map(({ status }) => status?.message)).toEqual(texts);
  });

  it('carries messages larger than every window and frame, in both directions', async () => {
    const { address } = await serveOn(echo);
    const text = 'é'.repeat(9 * 1024 * 1024);
    const answer = await check(client(address), asking(text));
    expect(answer.status?.message === text).toBe(true);
  });

  it('refuses a call without the internal token, with a wrong one, and of an unknown method', async () => {
    let asked = 0;
    const { address } = await serveOn({ check: async () => ({ status: { code: asked++ } }) });
    const from = client(address);
    for (const sent of [null, 'Bearer wrong', token]) {
      await expect(check(from, asking(''), metadata(sent))).rejects.toMatchObject({
        code: grpc.status.UNAUTHENTICATED,
      });
    }
    const unknown = new Promise((_, reject) => {
      from.makeUnaryRequest(
        '/no.Such/Method',
        () => Buffer.alloc(0),
        (bytes) => bytes,
        {},
        metadata(),
        (error) => reject(error),
      );
    });
    await expect(unknown).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
    expect(asked).toBe(0);
  });

  it('turns a fault of a handler, thrown or rejected, into INTERNAL and goes on', async () => {
    const faults: unknown[] = [];
    let calls = 0;
    const { address } = await serveOn(
      {
        check: (request) => {
          calls += 1;
          if (calls === 1) throw new Error('thrown');
          if (calls === 2) return Promise.reject(new Error('rejected'));
          return (echo.check as NonNullable<typeof echo.check>)(request);
        },
      },
      faults,
    );
    const from = client(address);
    await expect(check(from, asking(''))).rejects.toMatchObject({ code: grpc.status.INTERNAL });
    await expect(check(from, asking(''))).rejects.toMatchObject({ code: grpc.status.INTERNAL });
    expect((await check(from, asking('on'))).status?.message).toBe('on');
    expect(faults).toHaveLength(2);
  });

  it('keeps the order of a stream, tells of its end once, and answers an orderly end in kind', async () => {
    let closed = 0;
    const { address } = await serveOn({
      openProcessor: ({ answer }) => ({
        message: (request) =>
          answer({
            responseBody: { response: { bodyMutation: { body: request.responseBody?.body ?? Buffer.alloc(0) } } },
          }),
        close: () => closed++,
      }),
    });
    const encode = (value: object) => Buffer.from(processCodec.encode(value));
    const call = client(address).makeBidiStreamRequest(
      processPath,
      encode,
      (bytes) => processCodec.decode(bytes),
      metadata(),
    );
    const seen: string[] = [];
    call.on('data', (message: IProcessingResponse) =>
      seen.push(String(message.responseBody?.response?.bodyMutation?.body)),
    );
    for (let index = 0; index < 50; index++) call.write({ responseBody: { body: Buffer.from(`chunk ${index}`) } });
    call.end();
    const status = await new Promise<grpc.StatusObject>((resolve) => call.on('status', resolve));
    expect(status.code).toBe(grpc.status.OK);
    expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => `chunk ${index}`));
    expect(closed).toBe(1);
  });

  it('reads the body and the attributes of each message of a stream', async () => {
    const seen: ProcessingRequest[] = [];
    const { address } = await serveOn({
      openProcessor: () => ({ message: (request) => void seen.push(request), close: () => undefined }),
    });
    const encode = (value: object) => Buffer.from(processCodec.encode(value));
    const decode = (bytes: Buffer) => processCodec.decode(bytes);
    const call = client(address).makeBidiStreamRequest(processPath, encode, decode, metadata());
    const attributes = { filter: { attempts: 2 } };
    for (const body of ['first', 'second'])
      call.write({ attributes, responseBody: { body: Buffer.from(body), endOfStream: true } });
    call.end();
    call.resume();
    await new Promise((resolve) => call.on('status', resolve));
    expect(seen.map(({ responseBody }) => [String(responseBody?.body), responseBody?.endOfStream])).toEqual([
      ['first', true],
      ['second', true],
    ]);
    expect(seen.map((each) => each.attributes?.filter?.fields?.attempts?.numberValue)).toEqual([2, 2]);
  });

  it('tells of the end of a stream once when the peer cancels it or is gone', async () => {
    let opened = 0;
    const ends: (() => void)[] = [];
    let closed = 0;
    const { address } = await serveOn({
      openProcessor: () => {
        opened += 1;
        return {
          message: () => undefined,
          close: () => {
            closed += 1;
            ends.shift()?.();
          },
        };
      },
    });
    const encode = (value: object) => Buffer.from(processCodec.encode(value));
    for (const leave of ['cancel', 'gone'] as const) {
      const ended = new Promise<void>((resolve) => ends.push(resolve));
      const from = client(address);
      const call = from.makeBidiStreamRequest(processPath, encode, (bytes) => processCodec.decode(bytes), metadata());
      call.on('error', () => undefined);
      call.write({ responseBody: { body: Buffer.from('x') } });
      await expect.poll(() => opened).toBe(leave === 'cancel' ? 1 : 2);
      if (leave === 'cancel') call.cancel();
      else from.close();
      if (leave === 'gone') call.cancel();
      await ended;
    }
    expect(closed).toBe(2);
  });

  it('takes two tokens while one is exchanged for the other, and no third', async () => {
    const next = 'b-token-of-at-least-thirty-two-characters';
    const tokens = { internalToken: token, previousInternalToken: next };
    const listener = { listen: '127.0.0.1:0', ...tokens, grpcServer: implementation };
    const server = await serveEnvoy(listener, echo, () => undefined);
    cleanUp.push(() => server.close(100));
    const from = client(`127.0.0.1:${server.port}`);
    // Over one connection, which remembers what it was shown.
    for (const shown of [token, next, token])
      expect(await check(from, asking('x'), metadata(`Bearer ${shown}`))).toMatchObject({ status: { message: 'x' } });
    const refused = expect.objectContaining({ code: grpc.status.UNAUTHENTICATED });
    await expect(check(from, asking('x'), metadata(`Bearer ${token}x`))).rejects.toEqual(refused);
  });

  it('lets open streams end for a while when it is to close, and says so before it cuts those that have not', async () => {
    const events: string[] = [];
    const processor = { message: () => events.push('open'), close: () => events.push('closed') };
    const server = await serveEnvoy(
      { listen: '127.0.0.1:0', internalToken: token, grpcServer: implementation },
      { openProcessor: () => processor },
      () => undefined,
    );
    const encode = (value: object) => Buffer.from(processCodec.encode(value));
    const open = () => {
      const from = client(`127.0.0.1:${server.port}`);
      const call = from.makeBidiStreamRequest(processPath, encode, (bytes) => processCodec.decode(bytes), metadata());
      call.on('error', () => undefined);
      call.on('data', () => undefined);
      call.write({ responseBody: { body: Buffer.from('x') } });
      return call;
    };
    const [ending] = [open(), open()];
    await expect.poll(() => events).toEqual(['open', 'open']);
    const closing = server.close(200, { beforeCut: () => events.push('cutting') });
    ending.end();
    await closing;
    await expect.poll(() => events).toEqual(['open', 'open', 'closed', 'cutting', 'closed']);
  });

  it('ends with its last call, though the access log stays open, and takes what that still says', async () => {
    const ended: string[] = [];
    const server = await serveEnvoy(
      { listen: '127.0.0.1:0', internalToken: token, grpcServer: implementation },
      {
        openProcessor: () => ({ message: () => ended.push('open'), close: () => ended.push('call') }),
        accessLog: () => ended.push('logged'),
      },
      () => undefined,
    );
    const from = client(`127.0.0.1:${server.port}`);
    const log = from.makeClientStreamRequest(logPath, asIs, asIs, metadata(), () => undefined);
    log.write(Buffer.alloc(0));
    const call = from.makeBidiStreamRequest(processPath, asIs, asIs, metadata());
    call.on('error', () => undefined);
    call.on('data', () => undefined);
    call.write(Buffer.alloc(0));
    await expect.poll(() => ended).toEqual(expect.arrayContaining(['logged', 'open']));
    ended.length = 0;
    const closing = server.close(3_600_000, { beforeCut: () => ended.push('cutting') });
    call.end();
    await expect.poll(() => ended).toEqual(['call']);
    log.write(Buffer.alloc(0));
    await closing;
    expect(ended).toEqual(['call', 'logged']);
  });

  it('cuts open calls at once when nobody wants to wait for them any more', async () => {
    const events: string[] = [];
    const server = await serveEnvoy(
      { listen: '127.0.0.1:0', internalToken: token, grpcServer: implementation },
      { openProcessor: () => ({ message: () => events.push('open'), close: () => events.push('closed') }) },
      () => undefined,
    );
    const call = client(`127.0.0.1:${server.port}`).makeBidiStreamRequest(processPath, asIs, asIs, metadata());
    call.on('error', () => undefined);
    call.on('data', () => undefined);
    call.write(Buffer.alloc(0));
    await expect.poll(() => events).toEqual(['open']);
    const hurry = new AbortController();
    const closing = server.close(3_600_000, { beforeCut: () => events.push('cutting'), hurry: hurry.signal });
    hurry.abort();
    await closing;
    await expect.poll(() => events).toEqual(['open', 'cutting', 'closed']);
  });
});

describe('the HTTP/2 below it', () => {
  it('gives a large message no room while others have it all, until one of them is whole or gone', async () => {
    let whole = 0;
    const { port } = await serve({
      openProcessor: () => ({ message: () => void whole++, close: () => undefined }),
    });
    const session = connect(`http://127.0.0.1:${port}`);
    cleanUp.push(() => session.destroy());
    const mib = 1024 * 1024;
    /** Announces a message and sends some of it; `isSent` once the server has given room for it. */
    const begin = (size: number, sent: number) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': processPath,
        'x-gw-internal-token': `Bearer ${token}`,
      });
      stream.on('error', () => undefined);
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(size, 1);
      const state = { stream, isSent: false };
      stream.write(Buffer.concat([prefix, Buffer.alloc(sent)]), () => {
        state.isSent = true;
      });
      return state;
    };
    const some = 512 * 1024;
    const first = [begin(70 * mib, some), begin(70 * mib, some), begin(70 * mib, some)];
    await expect.poll(() => first.every(({ isSent }) => isSent)).toBe(true);
    const whose = begin(40 * mib, some);
    await expect.poll(() => whose.isSent).toBe(true);
    // Less than a wide window, which they get only once they have room.
    const waiting = [begin(40 * mib, some / 4), begin(60 * mib, some / 4)];
    // Later replies on the same connection show that the earlier one had enough time.
    for (let count = 0; count < 3; count++) await new Promise((resolve) => session.ping(resolve));
    expect(waiting.map(({ isSent }) => isSent)).toEqual([false, false]);
    // A message of zeros holds nothing, and is whole.
    whose.stream.write(Buffer.alloc(40 * mib - some));
    await expect.poll(() => waiting[0]?.isSent, { timeout: 10_000 }).toBe(true);
    expect(waiting[1]?.isSent).toBe(false);
    first[0]?.stream.destroy();
    await expect.poll(() => waiting[1]?.isSent).toBe(true);
    expect(whole).toBe(1);
  });

  it('reads every header that nghttp2 compresses, with Huffman codes and the dynamic table', async () => {
    const seen: string[] = [];
    const { port } = await serve({ check: async () => ({}) });
    const session = connect(`http://127.0.0.1:${port}`);
    cleanUp.push(() => session.close());
    const value = fc.string({
      unit: fc
        .integer({ min: 0x21, max: 0xff })
        .filter((code) => code !== 0x7f)
        .map((code) => String.fromCharCode(code)),
      maxLength: 60,
    });
    // The token is compared after decoding, so only an exact copy of a random one is let in: 12 (unimplemented), not 16.
    await fc.assert(
      fc.asyncProperty(fc.array(value, { maxLength: 5 }), async (values) => {
        const headers = Object.fromEntries(values.map((text, index) => [`x-h${index}`, text]));
        const status = await new Promise<string>((resolve, reject) => {
          const request = session.request({
            ':method': 'POST',
            ':path': '/unknown',
            'x-gw-internal-token': `Bearer ${token}`,
            ...headers,
          });
          request.on('response', (response) => resolve(String(response['grpc-status'])));
          request.on('error', reject);
          request.resume();
          request.end();
        });
        seen.push(status);
        expect(status).toBe('12');
      }),
      { numRuns: cases(300) },
    );
    expect(seen.length).toBeGreaterThanOrEqual(cases(300));
  });

  it('survives rubbish: the connection ends, the server goes on', async () => {
    const { port, address } = await serve(echo);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.boolean(), async (bytes, withPreface) => {
        const prefix = withPreface ? Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n') : Buffer.alloc(0);
        await new Promise<void>((resolve) => {
          const socket = createConnection(Number(port), '127.0.0.1', () => socket.end(Buffer.concat([prefix, bytes])));
          socket.on('error', () => undefined);
          socket.resume();
          socket.on('close', () => resolve());
        });
      }),
      { numRuns: cases(200) },
    );
    expect((await check(client(address), asking('still here'))).status?.message).toBe('still here');
  });
});
