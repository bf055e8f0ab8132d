/** `POST /v1/messages` and its `/count_tokens`: Anthropic's objects, as JSON or as events. */
import { type Answer, figuresOf, makeAnswers } from './answer.ts';
import { type ForcedTool, sampleValue } from './chat-choice.ts';
import type { Directives } from './directives.ts';
import type { Echo } from './echo.ts';
import type { EnergyReport } from './energy.ts';
import { namedEvent } from './messages-form.ts';
import { DONE, errorReply, jsonReply, type Reply, type StreamReply, withEnergy, withFields } from './reply.ts';
import { type Call, contentText, isFields, isReply, readCall } from './request.ts';
import { scriptedCall } from './script.ts';
import { type Seed, seedOf } from './seed.ts';
import { earlyEnergy, endOfStream } from './stream-energy.ts';
import { countTokens, splitTokens } from './text.ts';

type Block =
  | { readonly type: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly text: string; readonly id: string; readonly name: string };

interface Message {
  readonly id: string;
  readonly call: Call;
  readonly blocks: readonly Block[];
  readonly end: { readonly stop_reason: string; readonly stop_sequence: string | null };
  /** Undefined, and so absent in JSON, if a fault omits it. */
  readonly usage: unknown;
  readonly energy: EnergyReport;
  readonly outputTokens: number;
  readonly echo: Echo;
}

export const MESSAGE_STOP = namedEvent({ type: 'message_stop' });

function promptTokens({ messages, system }: Call['fields']): number {
  const texts = [system, ...(Array.isArray(messages) ? messages.map((each) => isFields(each) && each.content) : [])];
  return countTokens(texts.map(contentText).join(''));
}

const blocksOf = ({ messages }: Call['fields']): unknown[] =>
  (Array.isArray(messages) ? messages : []).flatMap((each) => (isFields(each) ? each.content : []));

/**
 * Returns the tools that have to be called: that of the script, else the named one, the first for `any`, and all for `any` where several
 * may be.
 */
function forcedTools(fields: Call['fields'], { script }: Directives): ForcedTool[] {
  const { tool_choice: choice, tools } = fields;
  if (!Array.isArray(tools)) return [];
  const results = blocksOf(fields).filter((block) => isFields(block) && block.type === 'tool_result').length;
  const step = scriptedCall(
    script,
    results,
    tools.map((tool) => isFields(tool) && tool.name),
  );
  if (step !== null) return [{ name: step.name, parameters: { const: step.input } }];
  if (!isFields(choice) || (choice.type !== 'any' && choice.type !== 'tool')) return [];
  const known = tools.flatMap((tool) =>
    isFields(tool) && typeof tool.name === 'string' ? [{ name: tool.name, parameters: tool.input_schema }] : [],
  );
  if (choice.type === 'tool') return known.filter(({ name }) => name === choice.name).slice(0, 1);
  return choice.disable_parallel_tool_use === false ? known : known.slice(0, 1);
}

function thinkingBlocks({ thinking }: Call['fields'], seed: Seed): Block[] {
  if (!isFields(thinking) || (thinking.type !== 'enabled' && thinking.type !== 'adaptive')) return [];
  const text = thinking.display === 'omitted' ? '' : 'The simulator thinks of nothing, and says so. ';
  return [{ type: 'thinking', text, signature: Buffer.from(`simulated ${seed.id}`).toString('base64') }];
}

function structuredText({ output_config: config }: Call['fields'], words: string): string {
  const format = isFields(config) && isFields(config.format) ? config.format : null;
  return format?.type === 'json_schema' ? JSON.stringify(sampleValue(format.schema)) : words;
}

const reasons = { stop: 'end_turn', length: 'max_tokens' } as const;

function endOf({ finishReason, text }: Answer, call: Call, directives: Directives): Message['end'] {
  if (directives.faults.has('refusal')) return { stop_reason: 'refusal', stop_sequence: null };
  const whole = makeAnswers({ ...call, stops: [] }, seedOf(call.model.id, call.fields.messages).number, directives)[0];
  const stop = finishReason === 'stop' && call.stops.find((each) => whole?.text.startsWith(text + each));
  return stop
    ? { stop_reason: 'stop_sequence', stop_sequence: stop }
    : { stop_reason: reasons[finishReason], stop_sequence: null };
}

function makeMessage(call: Call, directives: Directives, echo: Echo): Message {
  const { fields, model } = call;
  const seed = seedOf(model.id, fields.messages);
  const [answer = { text: '', tokens: 0, finishReason: 'stop' as const }] = makeAnswers(call, seed.number, directives);
  const tools = forcedTools(fields, directives).map(({ name, parameters }, index): Block => {
    const text = JSON.stringify(parameters === undefined ? {} : sampleValue(parameters));
    return { type: 'tool_use', text, id: `toolu_${seed.id.slice(0, 20)}${index}`, name };
  });
  const said: Block[] = tools.length > 0 ? tools : [{ type: 'text', text: structuredText(fields, answer.text) }];
  const blocks = [...thinkingBlocks(fields, seed), ...said];
  const outputTokens = blocks.reduce((sum, { text }) => sum + countTokens(text), 0);
  const thinkingTokens = blocks.reduce((sum, { text, type }) => sum + (type === 'thinking' ? countTokens(text) : 0), 0);
  const inputTokens = promptTokens(fields);
  const counted = {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
    output_tokens_details: { thinking_tokens: thinkingTokens },
    service_tier: 'standard',
  };
  return {
    id: `msg_${seed.id}`,
    call,
    blocks,
    end: tools.length > 0 ? { stop_reason: 'tool_use', stop_sequence: null } : endOf(answer, call, directives),
    usage: directives.faults.has('no-usage') ? undefined : (directives.usage ?? counted),
    energy: figuresOf(call, directives, inputTokens, outputTokens).energy,
    outputTokens,
    echo,
  };
}

function blockObject(block: Block, isBegun = false): object {
  const text = isBegun ? '' : block.text;
  if (block.type === 'text') return { type: 'text', text, citations: null };
  if (block.type === 'thinking') return { type: 'thinking', thinking: text, signature: isBegun ? '' : block.signature };
  return { type: 'tool_use', id: block.id, name: block.name, input: isBegun ? {} : JSON.parse(block.text) };
}

const head = ({ call, id }: Message) => ({ id, type: 'message', role: 'assistant', model: call.model.id });

function asJson(message: Message): Reply {
  const { blocks, echo, end, energy, outputTokens, usage } = message;
  const content = blocks.map((block) => blockObject(block));
  return withEnergy(jsonReply({ ...head(message), content, ...end, usage, ...echo }, outputTokens), energy);
}

const deltaOf = ({ type }: Block, token: string): object => {
  if (type === 'text') return { type: 'text_delta', text: token };
  if (type === 'thinking') return { type: 'thinking_delta', thinking: token };
  return { type: 'input_json_delta', partial_json: token };
};

/** The events of a block; what lies between its beginning and its end are its tokens. */
function blockEvents(block: Block, index: number): string[] {
  const delta = (value: object) => namedEvent({ type: 'content_block_delta', index, delta: value });
  const signature = block.type === 'thinking' ? [delta({ type: 'signature_delta', signature: block.signature })] : [];
  return [
    namedEvent({ type: 'content_block_start', index, content_block: blockObject(block, true) }),
    ...splitTokens(block.text).map((token) => delta(deltaOf(block, token))),
    ...signature,
    namedEvent({ type: 'content_block_stop', index }),
  ];
}

function asStream(message: Message): StreamReply {
  const { blocks, call, echo, end, energy, usage } = message;
  const counted = isFields(usage) ? { ...usage, output_tokens: 1 } : usage;
  const start = { ...head(message), content: [], stop_reason: null, stop_sequence: null, usage: counted };
  const begin = namedEvent({ type: 'message_start', message: start });
  const ping = namedEvent({ type: 'ping' });
  const last = namedEvent({ type: 'message_delta', delta: end, usage });
  return {
    kind: 'stream',
    headers: energy.headers,
    head: [withFields(begin, echo), ping, ...earlyEnergy(energy, ping)],
    tokens: blocks.flatMap(blockEvents),
    tail: endOfStream([last], [], energy, ping).map((event) => (event === DONE ? MESSAGE_STOP : event)),
    tokensPerSecond: call.model.tokensPerSecond,
    firstTokenMs: call.model.firstTokenMs,
  };
}

function readMessages(body: Buffer): Call | Reply {
  const call = readCall(body, 'chat');
  if (isReply(call)) return call;
  const { messages, stop_sequences: stops } = call.fields;
  if (!Array.isArray(messages) || messages.length === 0)
    return errorReply(400, 'messages: at least one message is required', 'messages');
  return { ...call, choices: 1, stops: Array.isArray(stops) ? stops.filter((stop) => typeof stop === 'string') : [] };
}

export function messageReply(body: Buffer, directives: Directives, echo: Echo): Reply {
  const call = readMessages(body);
  if ('kind' in call) return call;
  const message = makeMessage(call, directives, echo);
  return call.stream ? asStream(message) : asJson(message);
}

export function messageCountReply(body: Buffer, _directives: Directives, echo: Echo): Reply {
  const call = readMessages(body);
  return 'kind' in call ? call : jsonReply({ input_tokens: promptTokens(call.fields), ...echo });
}
