/** Verifies a pack beside the page, which goes on meanwhile. It asks nothing of anybody. */
import { earlierIn, type PackFile, PackFileError, verifyPackFile } from '@gw/evidence/verify-file';
import type { Told, VerifyRequest } from './messages.ts';

const tell = (told: Told): void => self.postMessage(told);
const atOnceBytes = 1024 * 1024;

/** `read`: told how many bytes were read. */
const fileOf = (blob: Blob, read: (bytes: number) => void = () => undefined): PackFile => ({
  size: blob.size,
  // By slices: not every browser can go through a stream, and each slice has an end or an error of its own.
  async *bytes() {
    for (let from = 0; from < blob.size; from += atOnceBytes) {
      yield new Uint8Array(await blob.slice(from, from + atOnceBytes).arrayBuffer());
      read(Math.min(from + atOnceBytes, blob.size));
    }
  },
});

async function answer({ account, earlier, pack, trust }: VerifyRequest): Promise<Told> {
  let which: 'pack' | 'earlier' = 'earlier';
  try {
    await needEd25519();
    const kept = earlier === null ? undefined : await earlierIn(fileOf(earlier));
    which = 'pack';
    const file = fileOf(pack, (readBytes) => tell({ kind: 'progress', readBytes }));
    const { head: _, ...found } = await verifyPackFile(file, {
      account,
      trust,
      ...(kept !== undefined && { earlier: kept }),
    });
    return { kind: 'found', found };
  } catch (error) {
    if (error instanceof PackFileError) return { kind: 'unreadable', which, reason: error.message };
    // Nobody hears of what a worker throws behind an `await`.
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Else no signature would fit, and an honest pack would seem to be forged. Throws. */
async function needEd25519(): Promise<void> {
  // That of RFC 8032, 7.1, test 1.
  const key = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
  try {
    await crypto.subtle.importKey('jwk', key, { name: 'Ed25519' }, false, ['verify']);
  } catch {
    throw new Error('This browser cannot check Ed25519 signatures. Take a newer one, or ./gw verify FILE.');
  }
}

self.addEventListener('message', async ({ data }: MessageEvent<VerifyRequest>) => tell(await answer(data)));
