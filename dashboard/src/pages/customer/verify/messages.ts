/** What the page and the worker tell each other. */
import type { LongVerification } from '@gw/evidence/verify-file';

export interface VerifyRequest {
  readonly pack: Blob;
  /** A pack or a checkpoint that was kept. */
  readonly earlier: Blob | null;
  /** Of the key set of the gateway, or a thumbprint that somebody had from elsewhere. */
  readonly trust: { readonly keys: readonly unknown[] } | { readonly thumbprint: string };
  readonly account: string;
}

/** All that was found but the head, which is as long as the pack has kinds of receipts. */
export type VerifyFindings = Omit<LongVerification, 'head'>;

export type Told =
  | { readonly kind: 'progress'; readonly readBytes: number }
  | { readonly kind: 'found'; readonly found: VerifyFindings }
  /** One of the files cannot be read; the reason is a sentence that follows its name. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly which: 'pack' | 'earlier'; readonly reason: string };
