/**
 * Objects in a bucket of S3, or of anything that speaks its API (MinIO, Ceph, R2, Cloud Storage).
 *
 * Invariant: each request ends within `timeoutMs`, and is tried a few times. Addresses are of the form `<url>/<bucket>/<name>`, which all of these
 * servers know.
 */
import { AwsClient } from 'aws4fetch';
import { expectName, isName, mostBytes, type ObjectStore, ObjectsUnavailableError } from './objects.ts';

// The types of aws4fetch name two that are not among Node's.
declare global {
  type BodyInit = NonNullable<RequestInit['body']>;
  type HeadersInit = NonNullable<RequestInit['headers']>;
}

export interface BucketSettings {
  /** `http(s)://host[:port]`, without the bucket. */
  readonly url: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const timeoutMs = 20_000;
const triesMore = 2;

export function openBucket({ bucket, url, ...settings }: BucketSettings): ObjectStore {
  const client = new AwsClient({ ...settings, service: 's3', retries: triesMore, initRetryMs: 100 });
  const place = `${url}/${bucket}`;
  const ask = async <T>(
    target: string,
    init: RequestInit,
    answer: (response: Response) => Promise<T> | T,
  ): Promise<T> => {
    try {
      const response = await client.fetch(place + target, {
        ...init,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return await answer(response);
    } catch (cause) {
      if (cause instanceof ObjectsUnavailableError) throw cause;
      throw new ObjectsUnavailableError(`The object store ${place} does not answer.`, { cause });
    }
  };
  return {
    place,
    put: async (name, bytes) =>
      ask(pathOf(name), { method: 'PUT', body: new Uint8Array(bytes) }, async (response) => {
        await response.arrayBuffer();
        if (!response.ok) throw refused(place, 'store an object', response);
      }),
    get: async (name, most = mostBytes) =>
      ask(pathOf(name), { method: 'GET' }, async (response) => {
        if (response.status === 404) return absent(place, response);
        if (!response.ok) throw refused(place, 'read an object', response);
        return bodyOf(place, response, most);
      }),
    list: async function* (folder) {
      const prefix = `${expectName(folder)}/`;
      for (let next: string | null = ''; next !== null; ) {
        const asked: Record<string, string> = { 'list-type': '2', delimiter: '/', prefix };
        if (next !== '') asked['continuation-token'] = next;
        const page = await ask(`?${new URLSearchParams(asked)}`, { method: 'GET' }, async (response) => {
          if (!response.ok) throw refused(place, 'list objects', response);
          return pageIn((await bodyOf(place, response, mostBytes)).toString(), prefix);
        });
        yield* page.names;
        ({ next } = page);
      }
    },
    remove: async (name) =>
      ask(pathOf(name), { method: 'DELETE' }, async (response) => {
        await response.arrayBuffer();
        if (!response.ok && response.status !== 404) throw refused(place, 'remove an object', response);
      }),
  };
}

const pathOf = (name: string): string => `/${expectName(name)}`;

/** Reads a page of ListObjectsV2. Names have no characters that XML escapes, and a token is the server's. */
function pageIn(xml: string, prefix: string): { readonly names: string[]; readonly next: string | null } {
  const found = [...xml.matchAll(/<(?:Key|Prefix)>([^<]+)<\/(?:Key|Prefix)>/g)].map(([, name = '']) => name);
  const names = found.flatMap((name) => (name.startsWith(prefix) ? name.slice(prefix.length).replace(/\/$/, '') : []));
  const [, token] = /<NextContinuationToken>([^<]+)</.exec(xml) ?? [];
  return { names: names.filter(isName), next: token?.replaceAll('&amp;', '&') ?? null };
}

const refused = (place: string, what: string, { status }: Response) =>
  new ObjectsUnavailableError(`The object store ${place} answered ${status} to a request to ${what}.`);

/** A bucket that is gone is not an object that is gone. */
async function absent(place: string, response: Response): Promise<null> {
  const text = (await response.text()).slice(0, 10_000);
  if (text.includes('<Code>NoSuchKey</Code>')) return null;
  throw refused(place, 'read an object', response);
}

async function bodyOf(place: string, { body, headers }: Response, most: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    pieces.push(piece);
    if (length > most) return Buffer.concat(pieces).subarray(0, most + 1);
  }
  const stated = headers.get('content-length');
  if (stated !== null && headers.get('content-encoding') === null && Number(stated) !== length)
    throw new ObjectsUnavailableError(`The object store ${place} broke a reply off.`);
  return Buffer.concat(pieces);
}
