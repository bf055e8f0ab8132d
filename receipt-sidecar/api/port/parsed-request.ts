import type { GwOptions } from '@gw/contract/gw-options';
import type { RequestSummary } from './shape.ts';
import type { NoCounterpart, Terms } from './translator.ts';

/** A valid request. It is plain data, since it is sent to threads. */
export interface ParsedRequest extends RequestSummary {
  /** The name of its API (`ApiShape.name`). */
  readonly endpoint: string;
  readonly model: string;
  readonly options: GwOptions;
  /** The field in which the client wrote the options; `gw` if absent. */
  readonly optionsPath?: string;
  /** UTF-8 bytes of the whole body: no text of a prompt has more. */
  readonly promptBytes: number;
  /** `metadata.project`: what the client charges the call to, unless its key says otherwise; absent: it names none. */
  readonly project?: string;
  /** The APIs that it was translated into, with what the replies are translated back by; absent: none. */
  readonly terms?: Readonly<Record<string, Terms>>;
  /** The APIs of its providers that it cannot be translated into, with a field that each has no counterpart for; absent: none. */
  readonly untranslatable?: Readonly<Record<string, NoCounterpart>>;
  /** Tells two bodies with one idempotency key apart; absent where there is no such key. */
  readonly bodySha256?: string;
  /** Binds its receipt to it and to its answer; absent: its receipt is bound to neither. */
  readonly binding?: Binding;
}

export interface Binding {
  /** 32 hexadecimal digits. It goes into the reply, and nowhere else. */
  readonly salt: string;
  readonly requestDigest: string;
}
