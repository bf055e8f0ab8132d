/** Verifies a pack in a thread beside the page. It sends no requests. */
import { earlierIn } from '@gw/evidence/kept-pack';
import { PackFileError } from '@gw/evidence/pack-file';
import { verifyPack } from '@gw/evidence/verify';
import type { VerifyRequest, WorkerMessage } from './run-worker.ts';

const tell = (message: WorkerMessage): void => self.postMessage(message);
const atOnceBytes = 1024 * 1024;

/** `read`: told how many bytes were read. */
/** `onRead` gets the number of bytes that were read so far. */
async function* bytesOf(blob: Blob, onRead: (bytes: number) => void = () => undefined): AsyncGenerator<Uint8Array> {
  // Read in slices, because not every browser can iterate a stream, and because each slice ends or fails separately.
  for (let from = 0; from < blob.size; from += atOnceBytes) {
    yield new Uint8Array(await blob.slice(from, from + atOnceBytes).arrayBuffer());
    onRead(Math.min(from + atOnceBytes, blob.size));
  }
}

async function answer({ account, earlier, pack, trust }: VerifyRequest): Promise<WorkerMessage> {
  let which: 'pack' | 'earlier' = 'earlier';
  try {
    await needEd25519();
    const kept = earlier === null ? undefined : await earlierIn(bytesOf(earlier));
    which = 'pack';
    const bytes = bytesOf(pack, (readBytes) => tell({ kind: 'progress', readBytes }));
    const { head: _, ...found } = await verifyPack(bytes, {
      account,
      trust,
      earlier: kept,
      // The console is where a browser shows the stack.
      onFault: (error) => console.error(error),
    });
    return { kind: 'found', found };
  } catch (error) {
    if (error instanceof PackFileError) return { kind: 'unreadable', which, reason: error.message };
    // The page is not told of an error that a worker throws after an `await`.
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Throws if the browser lacks Ed25519: no signature would fit, and an honest pack would look forged. */
async function needEd25519(): Promise<void> {
  // The key of RFC 8032, 7.1, test 1.
  const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
  try {
    await crypto.subtle.importKey('jwk', key, { name: 'Ed25519' }, false, ['verify']);
  } catch {
    throw new Error('This browser cannot check Ed25519 signatures. Take a newer one, or ./gw verify FILE.');
  }
}

self.addEventListener('message', async ({ data }: MessageEvent<VerifyRequest>) => tell(await answer(data)));
