import type { PackVerification } from '@gw/evidence/verify';

/** One of the files that were given cannot be read. */
export class UnreadableError extends Error {
  readonly which: 'pack' | 'earlier';

  constructor(which: 'pack' | 'earlier', reason: string) {
    super(reason);
    this.which = which;
  }
}

export interface Watch {
  /** Gets how much of the pack was read, 0 to 1. */
  readonly progress: (part: number) => void;
  /** Ends the worker. */
  readonly signal: AbortSignal;
}

/** Verifies a pack in a worker of its own. Throws UnreadableError, and the reason of the signal. */
export function verifyInWorker(asked: VerifyRequest, { progress, signal }: Watch): Promise<PackVerification> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  const ended = new Promise<PackVerification>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    worker.addEventListener('message', ({ data }: MessageEvent<WorkerMessage>) => {
      if (data.kind === 'found') resolve(data.found);
      else if (data.kind === 'failed') reject(new Error(data.reason));
      else if (data.kind === 'unreadable') reject(new UnreadableError(data.which, data.reason));
      else progress(data.readBytes / asked.pack.size);
    });
    worker.addEventListener('error', ({ message }) => reject(new Error(message || 'The worker could not be started.')));
  });
  worker.postMessage(asked);
  return ended.finally(() => worker.terminate());
}

export interface VerifyRequest {
  readonly pack: Blob;
  /** A pack or a checkpoint that was kept. */
  readonly earlier: Blob | null;
  /** The key set of the gateway, or a thumbprint that somebody had from elsewhere. */
  readonly trust: { readonly keys: readonly unknown[] } | { readonly thumbprint: string };
  readonly account: string;
}

export type WorkerMessage =
  | { readonly kind: 'progress'; readonly readBytes: number }
  | { readonly kind: 'found'; readonly found: PackVerification }
  /** The reason is a text of this program or of the browser. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** One of the files cannot be read; the reason is a sentence that follows the name of the file. */
  | { readonly kind: 'unreadable'; readonly which: 'pack' | 'earlier'; readonly reason: string };
