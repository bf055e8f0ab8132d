/** One call through the bare sidecar: every message is answered, by what was made for the first call of its kind. */
import type { ProcessingRequest, Processor, ProcessorCall } from '@gw/grpc/service';
import type { Candidate } from '@gw/receipt-sidecar/internals/catalogue/snapshot';
import {
  bodyMode,
  bytesOf,
  headerMode,
  readHeaders,
  replaceChunk,
  unchanged,
} from '@gw/receipt-sidecar/internals/wire/ext-proc';
import { z } from 'zod';
import { type Answer, isStreamed, refusal, toClients, toProviders, withReceipt, withReceiptEvent } from './answers.ts';

export type Chain = readonly [Candidate, ...Candidate[]];
/** Returns the deployments of a model that can be asked without their listeners; null if there are none. */
export type ChainOf = (model: string) => Chain | null;

const wantsBody: Answer = [
  Object.freeze({
    ...unchanged.requestHeaders,
    modeOverride: { requestBodyMode: bodyMode.buffered, responseHeaderMode: headerMode.send },
  }),
];

/** The event with the usage, which only the gateway has asked for. */
const leftOut: Answer = [Object.freeze(replaceChunk(Buffer.alloc(0)))];

/** Keeps the answer that was made for the first call of a kind. A load has few kinds, one for each body that it sends. */
export class Answers {
  readonly #made = new Map<string, Answer>();

  of(kind: string, make: () => Answer): Answer {
    const made = this.#made.get(kind) ?? make();
    this.#made.set(kind, made);
    return made;
  }
}

export class BareCall implements Processor {
  readonly #call: ProcessorCall;
  readonly #answers: Answers;
  readonly #chainOf: ChainOf;
  #first: ProcessingRequest | null = null;
  #isStream = false;

  constructor(call: ProcessorCall, answers: Answers, chainOf: ChainOf) {
    this.#call = call;
    this.#answers = answers;
    this.#chainOf = chainOf;
  }

  message(request: ProcessingRequest): void {
    const [response, body] = this.#answer(request);
    this.#call.answer(response, body);
  }

  #answer(request: ProcessingRequest): Answer {
    const { requestBody, requestHeaders, responseBody, responseHeaders } = request;
    if (requestHeaders) {
      this.#first = request;
      return wantsBody;
    }
    if (requestBody) return this.#requestBody(bytesOf(requestBody.body));
    const kind = this.#isStream ? 'stream' : 'json';
    if (responseHeaders)
      return this.#answers.of(`head ${kind}`, () => toClients(readHeaders(responseHeaders), this.#isStream));
    if (!responseBody) throw new Error('Envoy tells of trailers, which nobody sends here.');
    const bytes = bytesOf(responseBody.body);
    if (!this.#isStream) return this.#answers.of('json', () => withReceipt(bytes));
    if (!bytes.includes('data: [DONE]')) return bytes.includes('"choices":[]') ? leftOut : [unchanged.responseBody];
    return this.#answers.of(`end ${bytes.length}`, () => withReceiptEvent(bytes));
  }

  #requestBody(bytes: Buffer): Answer {
    this.#isStream = isStreamed(bytes);
    const text = bytes.toString('latin1');
    return this.#answers.of(`request ${text}`, () => {
      const { model } = z.object({ model: z.string() }).parse(JSON.parse(text));
      const chain = this.#chainOf(model);
      if (!chain) return refusal(`Nobody serves ${model}.`);
      return toProviders(chain, readHeaders(this.#first?.requestHeaders), Buffer.from(bytes));
    });
  }

  close(): void {
    // Nothing is held.
  }
}
