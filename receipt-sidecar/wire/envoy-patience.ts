/** Asks Envoy to wait longer for the answer to a message, which it does once for each message. */
import type { ProcessorCall } from '@gw/grpc/service';
import { slow, wait } from './ext-proc.ts';

export class EnvoyPatience {
  readonly #answer: ProcessorCall['answer'];
  #isAsked = false;

  constructor(answer: ProcessorCall['answer']) {
    this.#answer = answer;
  }

  /** While many large bodies arrive, Envoy could give up before this one is complete. */
  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#answer(wait(slow.waitS));
  }

  /** Call when the message has arrived; later requests are for the next one. Returns whether Envoy was asked for this message. */
  arrived(): boolean {
    const wasAsked = this.#isAsked;
    this.#isAsked = false;
    return wasAsked;
  }

  /** Asks if a step is slow, for example because a vocabulary is loaded. `isOpen`: whether the call is still open. */
  during(work: Promise<unknown>, isOpen: () => boolean): void {
    const timer = setTimeout(() => isOpen() && this.#answer(wait(slow.waitS)), slow.afterMs);
    work.catch(() => undefined).finally(() => clearTimeout(timer));
  }
}
