/** `./gw verify --receipt … --reply`: whether a kept receipt is of a saved answer, and of the request behind it. */
import { type AnswerCheck, checkAnswer, isBound, saltIn } from '@gw/evidence/check-answer';
import { receiptIn } from '@gw/evidence/kept-receipt';
import { lastGw, type SavedReply, savedReply } from '@gw/evidence/saved-reply';
import { Problem } from '@gw/stack/problem';

interface KeptFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The names of the files; `request` undefined: it is not compared. */
interface Files {
  readonly receipt: string;
  readonly reply: string;
  readonly request: string | undefined;
}

export interface KeptAnswer {
  /** Without the salt. */
  readonly receipt: Readonly<Record<string, unknown>>;
  readonly check: AnswerCheck;
}

export function keptAnswer(files: Files, bytesIn: (file: string) => Uint8Array): KeptAnswer {
  const fileOf = (name: string): KeptFile => ({ name, bytes: bytesIn(name) });
  const [receiptFile, replyFile] = [fileOf(files.receipt), fileOf(files.reply)];
  const request = files.request === undefined ? null : bytesIn(files.request);
  const kept = replyIn(receiptFile);
  const gw = lastGw(kept) ?? kept.at(-1)?.value;
  const receipt = receiptIn(gw);
  if (!gw || receipt === null)
    throw new Problem(`${receiptFile.name} is neither a receipt nor a reply with one in \`gw\`.`);
  if (!isBound(receipt))
    throw new Problem(
      `The receipt in ${receiptFile.name} is bound to no answer: its \`answer_digest\` is ${receipt.answer_digest === null ? 'null' : 'missing'}.`,
    );
  const reply = replyIn(replyFile);
  const salt = saltIn(gw) ?? saltIn(lastGw(reply) ?? {});
  if (salt === null)
    throw new Problem(
      `Neither ${receiptFile.name} nor ${replyFile.name} has \`gw.salt\`, without which nobody can compare the digests. Only the reply of the call has it.`,
    );
  return { receipt, check: checkAnswer({ receipt, salt, reply, request }) };
}

function replyIn({ bytes, name }: KeptFile): SavedReply {
  const reply = savedReply(bytes);
  if (reply === null) throw new Problem(`${name} is neither JSON that every parser reads alike nor a stream of it.`);
  return reply;
}

const isOf = (what: string, is: boolean): string =>
  `${what.padEnd(12)}this receipt ${is ? 'is' : 'is NOT'} of this ${what}`;

export const linesOf = ({ answer, request }: AnswerCheck): string[] => [
  isOf('answer', answer),
  ...(request === null ? [] : [isOf('request', request)]),
];

export const holds = ({ answer, request }: AnswerCheck): boolean => answer && request !== false;
