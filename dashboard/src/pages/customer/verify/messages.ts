/** The messages between the page and the worker. */
import type { PackVerification } from '@gw/evidence/verify';

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
