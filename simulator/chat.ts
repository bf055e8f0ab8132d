/** `POST /v1/chat/completions`: exactly OpenAI's objects, as JSON or as events. */
import { type Figures, figuresOf } from './answer.ts';
import { type Choice, makeChoices, type ToolCall } from './chat-choice.ts';
import type { Directives } from './directives.ts';
import type { Echo } from './echo.ts';
import { chatLogprob, chatLogprobs } from './logprobs.ts';
import { CREATED } from './models.ts';
import { errorReply, jsonReply, type Reply, type StreamReply, sse, withEnergy, withFields } from './reply.ts';
import { type Call, contentText, isFields, isReply, readCall } from './request.ts';
import { seedOf } from './seed.ts';
import { earlyEnergy, endOfStream } from './stream-energy.ts';
import { countTokens, inTurn } from './text.ts';

const FINGERPRINT = 'fp_simulator';

interface Completion {
  readonly id: string;
  readonly call: Call;
  readonly choices: readonly Choice[];
  readonly figures: Figures;
  readonly topLogprobs: number | null;
  readonly echo: Echo;
}

function promptTokens(messages: readonly unknown[]): number {
  return countTokens(messages.map((message) => (isFields(message) ? contentText(message.content) : '')).join(''));
}

const toolCallObject = (call: ToolCall): object => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: call.arguments },
});

function messageOf(choice: Choice): object {
  const base = { role: 'assistant', content: choice.toolCall === null ? choice.text : null, refusal: null };
  return choice.toolCall === null ? base : { ...base, tool_calls: [toolCallObject(choice.toolCall)] };
}

function asJson({ id, call, choices, figures, topLogprobs, echo }: Completion): Reply {
  const reply = jsonReply(
    {
      id,
      object: 'chat.completion',
      created: CREATED,
      model: call.model.id,
      choices: choices.map((choice, index) => ({
        index,
        message: messageOf(choice),
        logprobs: topLogprobs === null || choice.toolCall !== null ? null : chatLogprobs(choice.text, topLogprobs),
        finish_reason: choice.finishReason,
      })),
      usage: figures.usage,
      service_tier: 'default',
      system_fingerprint: FINGERPRINT,
      ...echo,
    },
    choices.reduce((sum, choice) => sum + choice.tokens, 0),
  );
  return withEnergy(reply, figures.energy);
}

/** Returns a function that writes chunks. The parts that all chunks of a stream share are serialised once. */
function chunkWriter({
  id,
  call,
}: Completion): (index: number, delta: string, logprobs: string, finish: string) => string {
  const start = JSON.stringify({ id, object: 'chat.completion.chunk', created: CREATED, model: call.model.id });
  const head = `${start.slice(0, -1)},"service_tier":"default","system_fingerprint":"${FINGERPRINT}","choices":[{"index":`;
  const tail = `}]${call.includeUsage ? ',"usage":null' : ''}}`;
  return (index, delta, logprobs, finish) =>
    sse(`${head}${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${finish}${tail}`);
}

function roleDelta(choice: Choice): string {
  if (choice.toolCall === null) return '{"role":"assistant","content":"","refusal":null}';
  const toolCall = { index: 0, ...toolCallObject({ ...choice.toolCall, arguments: '' }) };
  return JSON.stringify({ role: 'assistant', content: null, tool_calls: [toolCall] });
}

const tokenDelta = (choice: Choice, token: string): string =>
  choice.toolCall === null
    ? `{"content":${JSON.stringify(token)}}`
    : `{"tool_calls":[{"index":0,"function":{"arguments":${JSON.stringify(token)}}}]}`;

const emptyChunk = ({ id, call }: Completion): string =>
  sse(
    JSON.stringify({
      id,
      object: 'chat.completion.chunk',
      created: CREATED,
      model: call.model.id,
      service_tier: 'default',
      system_fingerprint: FINGERPRINT,
      choices: [],
    }),
  );

function usageChunk(completion: Completion): string[] {
  const { call, figures } = completion;
  if (!call.includeUsage || figures.usage === undefined) return [];
  return [withFields(emptyChunk(completion), { usage: figures.usage })];
}

function asStream(completion: Completion): StreamReply {
  const { choices, figures, topLogprobs, echo } = completion;
  const chunk = chunkWriter(completion);
  const pieces = inTurn(choices.map((choice) => choice.toolCall?.arguments ?? choice.text));
  const tokenChunk = (choice: Choice, index: number, token: string): string => {
    const logprobs =
      topLogprobs === null || choice.toolCall !== null
        ? 'null'
        : JSON.stringify({ content: [chatLogprob(token, topLogprobs)], refusal: null });
    return chunk(index, tokenDelta(choice, token), logprobs, 'null');
  };
  const head = choices.map((choice, index) => chunk(index, roleDelta(choice), 'null', 'null'));
  return {
    kind: 'stream',
    tokensPerSecond: completion.call.model.tokensPerSecond,
    firstTokenMs: completion.call.model.firstTokenMs,
    headers: figures.energy.headers,
    // The first chunk carries the echo.
    head: [
      ...head.slice(0, 1).map((event) => withFields(event, echo)),
      ...head.slice(1),
      ...earlyEnergy(figures.energy, emptyChunk(completion)),
    ],
    // Lazily, because a thousand open streams would hold some hundred megabytes.
    tokens: {
      length: pieces.length,
      at: (position) => {
        const piece = pieces.at(position);
        const choice = piece && choices[piece.of];
        return choice && tokenChunk(choice, piece.of, piece.token);
      },
    },
    tail: endOfStream(
      choices.map((choice, index) => chunk(index, '{}', 'null', `"${choice.finishReason}"`)),
      usageChunk(completion),
      figures.energy,
      emptyChunk(completion),
    ),
  };
}

function topLogprobsOf(call: Call): number | null {
  if (call.fields.logprobs !== true) return null;
  const top = call.fields.top_logprobs;
  return typeof top === 'number' ? Math.min(Math.max(Math.trunc(top), 0), 20) : 0;
}

export function chatReply(body: Buffer, directives: Directives, echo: Echo): Reply {
  const call = readCall(body, 'chat');
  if (isReply(call)) return call;
  const messages = call.fields.messages;
  if (!Array.isArray(messages) || messages.length === 0) {
    return errorReply(400, 'messages has to be a list with at least one message.', 'messages');
  }
  const seed = seedOf(call.model.id, messages);
  const choices = makeChoices(call, seed, directives);
  const completionTokens = choices.reduce((sum, choice) => sum + choice.tokens, 0);
  const completion = {
    id: `chatcmpl-${seed.id}`,
    call,
    choices,
    figures: figuresOf(call, directives, promptTokens(messages), completionTokens),
    topLogprobs: topLogprobsOf(call),
    echo,
  };
  return call.stream ? asStream(completion) : asJson(completion);
}
