/**
 * A witness of transparency logs, written from https://c2sp.org/tlog-witness and https://c2sp.org/tlog-cosignature with nothing of ours but the
 * trees of RFC 6962. It keeps what it has cosigned in memory.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isConsistent } from '@gw/evidence/merkle';

const derOf = { pkcs8: '302e020100300506032b657004220420', spki: '302a300506032b6570032100' } as const;
const keyId = (name: string, type: number, key: Buffer): Buffer =>
  createHash('sha256').update(`${name}\n`).update(Buffer.of(type)).update(key).digest().subarray(0, 4);

interface Cosigner {
  readonly vkey: string;
  /** A line over a text, at a time in seconds. */
  readonly cosign: (text: string, atS: number) => string;
}

/** `seed`: 64 hexadecimal digits. */
export function cosigner(name: string, seed: string): Cosigner {
  const der = Buffer.from(derOf.pkcs8 + seed, 'hex');
  const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const key = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
  const id = keyId(name, 4, key);
  return {
    vkey: `${name}+${id.toString('hex')}+${Buffer.concat([Buffer.of(4), key]).toString('base64')}`,
    cosign: (text, atS) => {
      const time = Buffer.alloc(8);
      time.writeBigUInt64BE(BigInt(atS));
      const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${atS}\n${text}`), secret);
      return `— ${name} ${Buffer.concat([id, time, signature]).toString('base64')}\n`;
    },
  };
}

export interface TestWitness {
  readonly vkey: string;
  readonly url: string;
  /** The sizes that it was asked to go on from, and what it answered. */
  readonly asked: readonly { readonly old: number; readonly size: number; readonly status: number }[];
  /** Makes each further reply another one; null: an honest one. */
  answer: ((status: number, body: string) => readonly [status: number, body: string]) | null;
  stop(): Promise<void>;
}

interface Kept {
  readonly size: number;
  readonly root: string;
}

/** `keyOf`: the public key of a log by its origin, 32 bytes in base64url; null: it is not known here. */
export async function startWitness(
  { cosign, vkey }: Cosigner,
  keyOf: (origin: string) => string | null,
  nowS: () => number,
): Promise<TestWitness> {
  const logs = new Map<string, Kept>();
  const asked: { old: number; size: number; status: number }[] = [];
  const reply = (body: string): readonly [number, string] => {
    const [ask = '', ...rest] = body.split('\n\n');
    const note = rest.join('\n\n');
    const text = `${note.split('\n\n— ')[0]}\n`;
    const [first = '', ...proof] = ask.split('\n');
    const [origin = '', count, root64 = ''] = text.split('\n');
    const [old, size, root] = [Number(first.replace('old ', '')), Number(count), hexOf(root64)];
    const key = keyOf(origin);
    if (key === null) return [404, 'unknown log\n'];
    if (!isSigned(note.slice(text.length + 1), { origin, key, text })) return [403, 'not signed by the log\n'];
    if (old > size) return [400, 'the old size is beyond the checkpoint\n'];
    const kept = logs.get(origin) ?? { size: 0, root: '' };
    if (kept.size !== old) return [409, `${kept.size}\n`];
    const path = proof.map(hexOf);
    const goesOn = old === 0 ? path.length === 0 : isConsistent(kept, { root, size }, path);
    if (!goesOn) return [422, 'not consistent\n'];
    logs.set(origin, { size, root });
    return [200, cosign(text, nowS())];
  };
  const witness = { vkey, url: '', asked, answer: null as TestWitness['answer'] };
  const server = createServer(async (request, response) => {
    const body = (await request.setEncoding('utf8').toArray()).join('');
    const isOne = request.method === 'POST' && request.url === '/w/add-checkpoint';
    const honest = isOne ? reply(body) : ([404, ''] as const);
    const [status, text] = witness.answer?.(...honest) ?? honest;
    asked.push({ old: Number(/^old (\d+)/.exec(body)?.[1]), size: Number(/\n\n.*\n(\d+)/.exec(body)?.[1]), status });
    response.writeHead(status, { 'content-type': status === 409 ? 'text/x.tlog.size' : 'text/plain' }).end(text);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  witness.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/w`;
  return Object.assign(witness, {
    stop: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  });
}

const hexOf = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

function isSigned(
  lines: string,
  { key, origin, text }: { readonly key: string; readonly origin: string; readonly text: string },
): boolean {
  const bytes = Buffer.from(key, 'base64url');
  const spki = Buffer.concat([Buffer.from(derOf.spki, 'hex'), bytes]);
  const signer: KeyObject = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  const own = lines.split('\n').flatMap((line) => {
    const [, name, encoded = ''] = line.split(' ');
    const payload = Buffer.from(encoded, 'base64');
    const isOwn = name === origin && payload.subarray(0, 4).equals(keyId(origin, 1, bytes));
    return isOwn ? [payload.subarray(4)] : [];
  });
  return own.length > 0 && own.every((signature) => verify(null, Buffer.from(text), signer, signature));
}
