/**
 * A made-up API, as a stranger to OpenAI's: other fields, other words for tokens, named events, and no mark at the end of a
 * stream. A request has `model`, `thought` and `stream`; a reply has `answer` and `effort: { heard, thought }`.
 */
import { type ApiError, errorBody, fieldError } from '@gw/contract/errors';
import { gatewayFields } from '@gw/contract/gw-options';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { TokenUsage } from '@gw/methodology/assess';
import { sizeOfTexts } from '@gw/receipt-sidecar/internals/api/port/prompt-size';
import type {
  ApiShape,
  ReplyTally,
  RequestSummary,
  StreamEvent,
  StreamReader,
} from '@gw/receipt-sidecar/internals/api/port/shape';
import { type Additions, addToObject } from '@gw/receipt-sidecar/internals/wire/json-body';
import { dataEvent } from '@gw/receipt-sidecar/internals/wire/write-events';
import { z } from 'zod';

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

class Tally implements ReplyTally {
  claim: ReplyTally['claim'] = null;
  isStale = false;
  answerBytes = 0;
  readonly reasoningBytes = 0;
  readonly otherBytes = 0;
  readonly isFiltered = false;

  take({ answer, effort }: JsonObject): void {
    if (typeof answer === 'string') this.answerBytes += Buffer.byteLength(answer);
    if (effort === null || typeof effort !== 'object') return;
    const { heard, thought } = effort as JsonObject;
    const rest = { total: null, cached: null, reasoning: null, rejected: null };
    this.claim = { prompt: count(heard), completion: count(thought), ...rest };
  }
}

class Reader implements StreamReader {
  readonly said = new Tally();
  hasBegunToEnd = false;
  readonly isRefuted = false;
  readonly lacksUsage = false;
  readonly endEvent = Buffer.alloc(0);
  readonly needsEnd = false;

  get isEmpty(): boolean {
    return this.said.answerBytes === 0;
  }

  get isWritten(): boolean {
    return this.hasBegunToEnd;
  }

  get isComplete(): boolean {
    return this.hasBegunToEnd;
  }

  get isBlank(): boolean {
    return this.isEmpty && !this.hasBegunToEnd;
  }

  isEnd(): boolean {
    return false;
  }

  isFailure(_value: JsonObject, name: string | null): boolean {
    return name === 'headache';
  }

  take(data: string, value: JsonObject, name: string | null): StreamEvent {
    this.said.take(value);
    this.hasBegunToEnd = name === 'silence';
    const hasText = typeof value.answer === 'string' && !this.hasBegunToEnd;
    return { role: this.hasBegunToEnd ? 'last' : 'passes', hasText, text: data, value };
  }

  takeKnown(): null {
    return null;
  }

  learn(): void {}

  add(text: string, value: JsonObject, additions: Additions): string {
    return addToObject(text, value, additions);
  }

  nameOf(_value: JsonObject | null, name: string | null): string | null {
    return name;
  }

  errorEvent(_error: ApiError, body: string): Buffer {
    return dataEvent(body);
  }

  ownEvent(additions: Additions, _usage: TokenUsage | null): Buffer {
    return dataEvent(addToObject('{}', {}, additions), 'silence');
  }
}

function describe({ stream, thought }: JsonObject, promptBytes: number): RequestSummary {
  return {
    ...sizeOfTexts(thought, promptBytes),
    stream: stream === true,
    wantsUsage: false,
    prompts: 1,
    answers: 1,
    candidates: 1,
    echoes: false,
    outputField: null,
    maxTokens: null,
    asksToRead: false,
    affinity: null,
  };
}

/** @public It is loaded by the path of this file. */
export const telepathy: ApiShape = {
  name: 'telepathy',
  path: '/v1/telepathy',
  kind: 'chat',
  errorBody,
  request: {
    schema: z.looseObject({ ...gatewayFields, thought: z.string(), model: z.string(), stream: z.boolean().nullish() }),
    promptField: 'thought',
    list: null,
    bound: null,
    contradiction: ({ thought }) => (thought === '' ? fieldError('thought', '`thought` is empty.') : null),
    describe,
    prompt: ({ thought }) => ({ texts: [String(thought)], frame: 0, isWhole: true, together: true }),
    texts: ({ thought }, decoded = []) => [[String(thought), ...decoded].join('\n')],
    integers: [],
    askingForUsage: () => new Map([['with_effort', 'true']]),
    fixed: new Map(),
    hasTemperature: false,
    samples: [{ thought: 'Hello' }],
  },
  reply: {
    tally: () => new Tally(),
    isFailure: ({ headache }) => Boolean(headache),
    mended: (text, value) => ({ text, value }),
    stream: {
      lastResort: {
        event: 'event: silence\ndata: {"gw":@gw@}\n\n',
        idPrefix: 'thought-',
        end: '',
        endEvent: '',
        carriers: [],
        carrierMember: null,
      },
      open: () => new Reader(),
      whole: (reply) => dataEvent(reply, 'silence'),
    },
  },
};
