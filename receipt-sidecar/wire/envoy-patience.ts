/** How long Envoy waits for the answer to a message. It can be asked once for each message to wait longer. */
import type { ProcessorCall } from '@gw/grpc/service';
import { slow, wait } from './ext-proc.ts';

export class EnvoyPatience {
  readonly #answer: ProcessorCall['answer'];
  #isAsked = false;

  constructor(answer: ProcessorCall['answer']) {
    this.#answer = answer;
  }

  /** While many large bodies arrive, it could give up before this one is whole. */
  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#answer(wait(slow.waitS));
  }

  /** Returns whether it was asked for this message, which is here; what is asked from now on is asked for the next one. */
  arrived(): boolean {
    const wasAsked = this.#isAsked;
    this.#isAsked = false;
    return wasAsked;
  }

  /** Asks once if a step is slow, for example because a vocabulary is being read. `isOpen`: whether anybody still waits. */
  during(work: Promise<unknown>, isOpen: () => boolean): void {
    const timer = setTimeout(() => isOpen() && this.#answer(wait(slow.waitS)), slow.afterMs);
    work.catch(() => undefined).finally(() => clearTimeout(timer));
  }
}
