/** Whether a receipt is of an answer and of a request, by the salt that came with the answer. It does not say whether the receipt itself is proven. */
import { type ApiName, apiNames } from '@gw/contract/api-names';
import type { Node } from '../receipt-node.ts';
import { AnswerDigest, saltedDigest } from './answer-digest.ts';
import type { SavedReply } from './saved-reply.ts';

export interface Kept {
  readonly receipt: Node;
  readonly salt: string;
  readonly reply: SavedReply;
  /** The bytes of the body as they were sent; null: only the answer is checked. */
  readonly request: Uint8Array | null;
}

export interface AnswerCheck {
  readonly answer: boolean;
  /** Null: it was not checked. */
  readonly request: boolean | null;
}

export const saltIn = ({ salt }: Node): string | null =>
  typeof salt === 'string' && /^[0-9a-f]{32}$/.test(salt) ? salt : null;

/** Whether a receipt states digests. */
export const isBound = ({ answer_digest: answer, request_digest: request }: Node): boolean =>
  typeof answer === 'string' && typeof request === 'string';

export function checkAnswer({ receipt, reply, request, salt }: Kept): AnswerCheck {
  return {
    answer: answerDigestOf(receipt.api, salt, reply) === receipt.answer_digest,
    request: request === null ? null : saltedDigest(salt, request) === receipt.request_digest,
  };
}

function answerDigestOf(api: unknown, salt: string, reply: SavedReply): string | null {
  const name: ApiName | undefined = apiNames.find((each) => each === api);
  if (name === undefined) return null;
  const content = new AnswerDigest(name);
  for (const event of reply) content.take(event.value, event.name);
  return content.digest(salt);
}
