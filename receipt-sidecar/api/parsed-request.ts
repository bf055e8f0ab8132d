import type { GwOptions } from '@gw/contract/gw-options';
import type { Endpoint } from './endpoint.ts';
import type { PromptSize } from './estimate.ts';

export interface ParsedRequest extends PromptSize {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly options: GwOptions;
  /** The field in which the client wrote the options; `gw` if absent. */
  readonly optionsPath?: string;
  readonly stream: boolean;
  /** Whether the client asked for the usage chunk of a stream. */
  readonly wantsUsage: boolean;
  /** How many choices the client asked for, in all prompts together. */
  readonly choices: number;
  /** UTF-8 bytes of the whole body: no text of a prompt has more. */
  readonly promptBytes: number;
  /** How many prompts the request has, which are read one by one. */
  readonly prompts: number;
  /** How many answers are written, of which `choices` are delivered. */
  readonly candidates: number;
  /** Whether the reply repeats the prompt. */
  readonly echoes: boolean;
  /**
   * The field by which the client bounds what is generated, and the most tokens that it allows for each choice; null:
   * no bound.
   */
  readonly outputField: 'max_completion_tokens' | 'max_tokens' | null;
  readonly maxTokens: number | null;
  /** `metadata.project`: what the client charges the call to, unless its key says otherwise; absent: it names none. */
  readonly project?: string;
  /** What tells two bodies with one idempotency key apart; absent where there is no such key. */
  readonly bodySha256?: string;
}
