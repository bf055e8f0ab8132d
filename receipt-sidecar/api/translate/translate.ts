/** The pairs of APIs between which calls are translated: each reads into the model of a call, and writes out of it. */
import { err, ok } from '@gw/contract/internal/result';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { ClientEvent, Defaults, Fields, StreamTranslator, Terms, Translator } from '../port/translator.ts';
import { readChat } from './chat/read-call.ts';
import { ChatReader } from './chat/read-reply.ts';
import { writeChat } from './chat/write-call.ts';
import { ChatWriter, writeReply as writeChatReply } from './chat/write-reply.ts';
import { readMessages } from './messages/read-call.ts';
import { MessagesReader } from './messages/read-reply.ts';
import { writeMessages } from './messages/write-call.ts';
import { MessagesWriter, writeReply as writeMessagesReply } from './messages/write-reply.ts';
import type { Call } from './model/call.ts';
import { write } from './model/json.ts';
import { Losses } from './model/losses.ts';
import type { FlowWriter, Reply, ReplyReader } from './model/reply.ts';
import { Sequence } from './model/sequence.ts';
import { Whole } from './model/whole.ts';
import { readResponses } from './responses/read-call.ts';
import { ResponsesReader } from './responses/read-reply.ts';
import { writeResponses } from './responses/write-call.ts';
import { repeatedFields, writeReply as writeResponsesReply } from './responses/write-reply.ts';
import { ResponsesWriter } from './responses/write-stream.ts';

/** An API's readers and writers. */
interface Words {
  readCall(given: Fields, losses: Losses): Call;
  writeCall(call: Call, losses: Losses, defaults: Defaults): JsonObject;
  reader(to: Sequence, terms: Terms): ReplyReader;
  writer(terms: Terms): FlowWriter & { readonly isTooLong?: boolean };
  writeReply(reply: Reply, terms: Terms): string;
  /** Settings that its replies repeat. */
  readonly repeated: readonly string[];
}

const words: ReadonlyMap<string, Words> = new Map<string, Words>([
  [
    'chat',
    {
      readCall: readChat,
      writeCall: writeChat,
      reader: (to, terms) => new ChatReader(to, terms),
      writer: () => new ChatWriter(),
      writeReply: writeChatReply,
      repeated: [],
    },
  ],
  [
    'messages',
    {
      readCall: readMessages,
      writeCall: writeMessages,
      reader: (to, terms) => new MessagesReader(to, terms),
      writer: () => new MessagesWriter(),
      writeReply: writeMessagesReply,
      repeated: [],
    },
  ],
  [
    'responses',
    {
      readCall: readResponses,
      writeCall: writeResponses,
      reader: (to, terms) => new ResponsesReader(to, terms),
      writer: (terms) => new ResponsesWriter(terms),
      writeReply: writeResponsesReply,
      repeated: repeatedFields,
    },
  ],
]);

/** Returns how calls of one API (`ApiShape.name`) become calls of another, and its replies come back; null: they cannot. */
export function translate(from: string, to: string): Translator | null {
  const [client, provider] = [words.get(from), words.get(to)];
  if (client === undefined || provider === undefined || client === provider) return null;
  return {
    request: (given, defaults) => {
      const losses = new Losses();
      const call = offered(client.readCall(given, losses));
      const body = provider.writeCall(call, losses, defaults);
      if (losses.refused !== null) return err(losses.refused);
      const texts = new Map<string, string>();
      for (const [name, value] of Object.entries(body)) if (value !== undefined) texts.set(name, write(value));
      return ok({ body, texts, terms: { ...termsOf(client, given, call, defaults), left: losses.left } });
    },
    reply: (json, terms) => wholeReply(provider, client, json, terms),
    stream: (terms) => new Stream(provider, client, terms),
  };
}

/** Servers refuse a choice among no tools. */
const offered = (call: Call): Call => {
  if (call.tools.length > 0) return call;
  return { ...call, choice: call.choice?.mode === 'required' ? call.choice : null, parallel: null };
};

function termsOf(
  { repeated }: Words,
  { body, texts }: Fields,
  { stops }: Call,
  { now }: Defaults,
): Omit<Terms, 'left'> {
  const settings = repeated.flatMap((name) => {
    const json = texts.get(name);
    return json === undefined || json === 'null' ? [] : [[name, json]];
  });
  return { model: String(body.model), created: now, stops: stops?.is ?? [], repeated: Object.fromEntries(settings) };
}

function wholeReply(provider: Words, client: Words, json: string, terms: Terms): string | null {
  const whole = new Whole();
  const sequence = new Sequence(whole);
  const value: unknown = JSON.parse(json);
  const isReply = provider.reader(sequence, terms).whole(value as JsonObject, json);
  if (!isReply || sequence.hasFailed || whole.reply === null) return null;
  return client.writeReply(whole.reply, terms);
}

class Stream implements StreamTranslator {
  readonly #writer: FlowWriter & { readonly isTooLong?: boolean };
  readonly #sequence: Sequence;
  readonly #reader: ReplyReader;

  constructor(provider: Words, client: Words, terms: Terms) {
    this.#writer = client.writer(terms);
    this.#sequence = new Sequence(this.#writer);
    this.#reader = provider.reader(this.#sequence, terms);
  }

  get hasFailed(): boolean {
    return this.#sequence.hasFailed || this.#writer.isTooLong === true;
  }

  take(_json: string, value: JsonObject): readonly ClientEvent[] {
    if (!this.hasFailed && !this.#sequence.hasEnded) this.#reader.take(value);
    return this.hasFailed ? [] : this.#writer.take();
  }

  takeText(like: JsonObject, text: string): readonly ClientEvent[] {
    if (!this.hasFailed && !this.#sequence.hasEnded) this.#reader.takeText(like, text);
    return this.hasFailed ? [] : this.#writer.take();
  }

  end(): readonly ClientEvent[] {
    if (!this.hasFailed && !this.#sequence.hasEnded) this.#reader.end();
    return this.hasFailed ? [] : this.#writer.take();
  }
}
