/** Notes who answered a call, and waits until it is known how the attempts before that one ended, as far as it will be. */
import { type JudgedReply, judgedReply } from '../attempts/attempt-outcome.ts';
import { endOfReply } from '../attempts/settlement.ts';
import type { Answered, AttemptWatch } from '../attempts/watch-attempts.ts';
import type { CallRecord } from '../receipt/call-record.ts';
import { andThen } from '../wire/maybe-promise.ts';

export interface AnsweredCall {
  readonly record: CallRecord;
  readonly watch: AttemptWatch | null;
  readonly fail: (error: unknown) => void;
}

export interface JudgedAnswer extends Answered {
  readonly judged: JudgedReply;
  readonly stream: boolean;
}

/** Calls `next` unless the client has left meanwhile. */
export function onceKnown(
  { fail, record, watch }: AnsweredCall,
  answered: Answered,
  next: (judged: JudgedReply) => void,
): void {
  const { attempts, deployment, headers } = answered;
  const judged = judgedReply((name) => headers.get(name));
  const known = watch?.arrived(answered);
  const note = () =>
    record.answeredBy(deployment, attempts, judged, watch?.lost ?? endOfReply(headers, deployment, judged));
  note();
  const told = andThen(known, () => {
    watch?.answered(answered);
    if (record.recorded) return;
    note();
    next(judged);
  });
  if (told instanceof Promise) told.catch(fail);
}
