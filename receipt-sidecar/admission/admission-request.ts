import type { Bodies } from '../api/behind.ts';
import type { ParsedRequest } from '../api/port/parsed-request.ts';
import type { Catalogue } from '../catalogue/snapshot.ts';
import type { Caller } from '../guards/caller.ts';

/** A request, as far as its headers and its body tell. */
export interface AdmissionRequest {
  readonly endpoint: string;
  readonly bytes: Buffer;
  readonly caller: Caller;
  readonly catalogue: Catalogue;
  readonly requestId: string | null;
  readonly path: string;
  /** When the body was whole, by `performance.now`. */
  readonly arrivedAt: number;
  /** As the client sent it; null: none. */
  readonly idempotencyKey: string | null;
  /** Returns false once the client has gone. */
  readonly isOpen: () => boolean;
  /** Sets what is done when the client goes, and when a replay is over; at once if the client has gone. */
  readonly onGone: (then: () => void) => void;
}

export interface ReadBody {
  readonly request: ParsedRequest;
  readonly bodies: Bodies;
  /** The tokens of a prompt that was to be counted, as far as the gateway can. */
  readonly tokens?: number | null;
}
