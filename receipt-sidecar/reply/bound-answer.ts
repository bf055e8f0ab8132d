/** The answer of a call as its client gets it, for the digest that binds the receipt to it. */
import { apiNames } from '@gw/contract/api-names';
import { AnswerDigest } from '@gw/evidence/answer-digest';
import type { ParsedRequest } from '../api/port/parsed-request.ts';

export class BoundAnswer extends AnswerDigest {
  readonly #salt: string;

  constructor(api: ConstructorParameters<typeof AnswerDigest>[0], salt: string) {
    super(api);
    this.#salt = salt;
  }

  /** Returns the digest, once. */
  bound(): string | null {
    return this.digest(this.#salt);
  }
}

/** Returns null for a call that is bound to nothing. */
export function boundAnswer({ binding, endpoint }: ParsedRequest): BoundAnswer | null {
  const api = apiNames.find((name) => name === endpoint);
  return binding === undefined || api === undefined ? null : new BoundAnswer(api, binding.salt);
}
