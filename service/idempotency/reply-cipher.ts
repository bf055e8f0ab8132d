/**
 * Encryption of stored replies: AES-256-GCM (NIST SP 800-38D) with a key from the environment, so that a copy of Redis reveals none.
 *
 * Invariants: a reply sealed for one claim cannot be opened for another. Fingerprints are keyed too, so that they reveal nothing about
 * the request.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  webcrypto,
} from 'node:crypto';

/** A reply as the client got it, without the headers that are generated each time. */
export interface StoredReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In parts, to avoid a copy. */
  readonly body: readonly Buffer[];
}

export interface ReplyCipher {
  /** Under the current and the previous key; equal if there is only one. */
  fingerprints(text: string): readonly [current: string, formerly: string];
  seal(reply: StoredReply, boundTo: string): Promise<Buffer>;
  /** Resolves to null if it was sealed with another key or for another claim, or was altered. */
  open(sealed: Buffer, boundTo: string): Promise<StoredReply | null>;
}

const algorithm = 'aes-256-gcm';
const form = 1;
const formByte = Buffer.of(form);
const nonceBytes = 12;
const tagBytes = 16;
const bodyAt = 1 + nonceBytes;
/** Larger replies, more than some 0.1 ms of the event loop, are encrypted by a thread of Node. */
const inlineBytes = 128 * 1024;

interface Keys {
  readonly reply: KeyObject;
  readonly fingerprint: string;
}

const derived = (key: Buffer, purpose: string) =>
  new Uint8Array(hkdfSync('sha256', key, '', `gw idempotency ${purpose}`, 32));
const keysOf = (key: Buffer): Keys => ({
  reply: createSecretKey(derived(key, 'reply')),
  fingerprint: Buffer.from(derived(key, 'fingerprint')).toString('hex'),
});

/** `keys` have 32 bytes each. The first one seals, all of them open. */
export function createReplyCipher(keys: readonly [Buffer, ...Buffer[]]): ReplyCipher {
  const [current, former = current] = keys.map(keysOf) as [Keys, ...Keys[]];
  const openers = [...new Set([current, former])];
  // A secret prefix suffices, because a length extension would need a fingerprint, and these are not public.
  const printOf = ({ fingerprint }: Keys, text: string) => hash('sha256', fingerprint + text, 'base64url');
  return {
    fingerprints: (text) => {
      const print = printOf(current, text);
      return [print, former === current ? print : printOf(former, text)];
    },
    seal: (reply, boundTo) => seal(current.reply, plainOf(reply), contextOf(boundTo)),
    open: async (sealed, boundTo) => {
      if (sealed[0] !== form || sealed.length < bodyAt + tagBytes) return null;
      for (const { reply } of openers) {
        const plain = await opened(reply, sealed, contextOf(boundTo));
        if (plain) return replyOf(plain);
      }
      return null;
    },
  };
}

const contextOf = (boundTo: string): Buffer => Buffer.from(`gw idempotent reply ${form} ${boundTo}`);

/** Encodes the length of the head, the head as JSON, and the body. */
function plainOf({ body, headers, status }: StoredReply): readonly Buffer[] {
  const text = JSON.stringify({ status, headers });
  const head = Buffer.allocUnsafe(4 + Buffer.byteLength(text));
  head.writeUInt32BE(head.length - 4);
  head.write(text, 4);
  return [head, ...body];
}

function replyOf(plain: Buffer): StoredReply {
  const end = 4 + plain.readUInt32BE();
  const { headers, status } = JSON.parse(plain.toString('utf8', 4, end)) as Pick<StoredReply, 'status' | 'headers'>;
  return { status, headers, body: [plain.subarray(end)] };
}

/** Random bytes are generated in bulk, because many cost no more than a few. */
const nonces = { bytes: Buffer.alloc(0), at: 0 };
function newNonce(): Buffer {
  if (nonces.at === nonces.bytes.length) {
    nonces.bytes = randomBytes(256 * nonceBytes);
    nonces.at = 0;
  }
  nonces.at += nonceBytes;
  return nonces.bytes.subarray(nonces.at - nonceBytes, nonces.at);
}

async function seal(key: KeyObject, plain: readonly Buffer[], context: Buffer): Promise<Buffer> {
  const nonce = newNonce();
  const start = [formByte, nonce];
  if (plain.reduce((sum, part) => sum + part.length, 0) > inlineBytes) {
    const subtle = await webcrypto.subtle.importKey('raw', key.export(), 'AES-GCM', false, ['encrypt']);
    const options = { name: 'AES-GCM', iv: nonce, additionalData: context, tagLength: tagBytes * 8 };
    return Buffer.concat([
      ...start,
      Buffer.from(await webcrypto.subtle.encrypt(options, subtle, Buffer.concat(plain))),
    ]);
  }
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(context);
  // One call of the cipher costs less than several, despite the copy.
  const hidden = cipher.update(Buffer.concat(plain));
  // In GCM `final` returns no data.
  cipher.final();
  return Buffer.concat([...start, hidden, cipher.getAuthTag()]);
}

async function opened(key: KeyObject, sealed: Buffer, context: Buffer): Promise<Buffer | null> {
  const nonce = sealed.subarray(1, bodyAt);
  const tagAt = sealed.length - tagBytes;
  try {
    if (sealed.length > inlineBytes) {
      const subtle = await webcrypto.subtle.importKey('raw', key.export(), 'AES-GCM', false, ['decrypt']);
      const options = { name: 'AES-GCM', iv: nonce, additionalData: context, tagLength: tagBytes * 8 };
      return Buffer.from(await webcrypto.subtle.decrypt(options, subtle, sealed.subarray(bodyAt)));
    }
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
      .setAAD(context)
      .setAuthTag(sealed.subarray(tagAt));
    return Buffer.concat([decipher.update(sealed.subarray(bodyAt, tagAt)), decipher.final()]);
  } catch {
    return null;
  }
}
