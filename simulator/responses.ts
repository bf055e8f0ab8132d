/**
 * `POST /v1/responses`: OpenAI's objects, as JSON or as named events. The answer is text, requested JSON, a call of each forced tool, or a
 * refusal; with `reasoning` an item of it comes first.
 */
import { type Answer, type Figures, limitText } from './answer.ts';
import { sampleValue } from './chat-choice.ts';
import type { Directives } from './directives.ts';
import type { Echo } from './echo.ts';
import { reportEnergy } from './energy.ts';
import { CREATED } from './models.ts';
import { errorReply, jsonReply, type Reply, type StreamReply, withEnergy } from './reply.ts';
import { type Call, contentText, type Fields, isFields, isReply, readCall } from './request.ts';
import { failedEnd, type OutputItem, type ResponseEvents, responseEvents } from './response-events.ts';
import { scriptedCall } from './script.ts';
import { type Seed, seedOf } from './seed.ts';
import { answerText, countTokens } from './text.ts';

const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

/**
 * Returns the tools that have to be called: that of the script, else the named one, or all for `required`, so that calls in parallel can be
 * tried.
 */
function forcedTools({ fields }: Call, { script }: Directives): readonly Fields[] {
  const { parallel_tool_calls: isParallel, tool_choice: wanted } = fields;
  const tools = list(fields.tools).filter(({ name }) => typeof name === 'string');
  const results = list(fields.input).filter(({ type }) => String(type).endsWith('_call_output')).length;
  const step = scriptedCall(
    script,
    results,
    tools.map(({ name }) => name),
  );
  if (step !== null) return [{ type: 'function', name: step.name, parameters: { const: step.input } }];
  if (isFields(wanted)) return tools.filter(({ name }) => name === wanted.name).slice(0, 1);
  if (wanted !== 'required') return [];
  return isParallel === false ? tools.slice(0, 1) : tools;
}

function callItem(tool: Fields, at: number, { id }: Seed): OutputItem {
  const base = { status: 'completed', call_id: `call_${id.slice(0, 20)}${at}`, name: tool.name };
  if (tool.type === 'custom') {
    const text = 'simulated';
    return { item: { id: `ctc_${id}${at}`, type: 'custom_tool_call', ...base, input: text }, text };
  }
  const text = JSON.stringify(tool.parameters == null ? {} : sampleValue(tool.parameters));
  return { item: { id: `fc_${id}${at}`, type: 'function_call', ...base, arguments: text }, text };
}

function reasoningItem({ fields }: Call, { id, number }: Seed): readonly OutputItem[] {
  const { include, reasoning } = fields;
  if (!isFields(reasoning) || reasoning.effort === 'none') return [];
  const text = answerText(number + 7, 'plain', 8);
  const isSummarised = reasoning.summary != null;
  const encrypted = Array.isArray(include) && include.includes('reasoning.encrypted_content');
  const item = {
    id: `rs_${id}`,
    type: 'reasoning',
    summary: isSummarised ? [{ type: 'summary_text', text }] : [],
    ...(encrypted && { encrypted_content: Buffer.from(id).toString('base64') }),
  };
  return [{ item, text: isSummarised ? text : '' }];
}

/** The tokens of the reasoning, whether shown or not. */
const reasoningTokens = 8;

function structuredText({ fields }: Call, words: string): string | null {
  const format = isFields(fields.text) ? fields.text.format : null;
  if (!isFields(format)) return null;
  if (format.type === 'json_object') return JSON.stringify({ simulated: true, answer: words });
  return format.type === 'json_schema' ? JSON.stringify(sampleValue(format.schema)) : null;
}

function messageItem(
  call: Call,
  { id, number }: Seed,
  directives: Directives,
): OutputItem & Pick<Answer, 'finishReason'> {
  const words = answerText(number, directives.text, directives.tokens);
  const isRefused = directives.faults.has('refusal');
  const { finishReason, text } = limitText(structuredText(call, words) ?? words, call);
  const status = finishReason === 'length' ? 'incomplete' : 'completed';
  const part = isRefused
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs: [] };
  return {
    item: { id: `msg_${id}`, type: 'message', status, role: 'assistant', content: [part] },
    text,
    finishReason,
  };
}

/** The text of the instructions and of all items. */
function promptText({ fields }: Call): string {
  const { input, instructions } = fields;
  const items = typeof input === 'string' ? [input] : list(input).map((item) => itemText(item));
  return [typeof instructions === 'string' ? instructions : '', ...items].join('');
}

const itemText = ({ arguments: called, content, input, output }: Fields): string =>
  [contentText(content), contentText(output), ...[called, input].filter((text) => typeof text === 'string')].join('');

/** Fields that a response repeats from its request. */
const repeated = [
  'instructions',
  'max_output_tokens',
  'metadata',
  'reasoning',
  'safety_identifier',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'truncation',
  'user',
] as const;

function figuresOf(call: Call, directives: Directives, input: number, output: number, reasoning: number): Figures {
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
  return {
    usage: directives.faults.has('no-usage') ? undefined : (directives.usage ?? usage),
    energy: reportEnergy(call.model, directives, input, output),
  };
}

export function responseReply(body: Buffer, directives: Directives, echo: Echo): Reply {
  const read = readCall(body, 'chat');
  if (isReply(read)) return read;
  const { input, max_output_tokens: most } = read.fields;
  if (typeof input !== 'string' && !Array.isArray(input))
    return errorReply(400, 'input has to be a text or a list.', 'input');
  const call = { ...read, maxTokens: typeof most === 'number' ? most : null };
  const seed = seedOf(call.model.id, input);
  const reasoning = reasoningItem(call, seed);
  const tools = forcedTools(call, directives);
  const message = tools.length > 0 ? null : messageItem(call, seed, directives);
  const items = [...reasoning, ...(message === null ? tools.map((tool, at) => callItem(tool, at, seed)) : [message])];
  const hidden = reasoning.length > 0 ? reasoningTokens : 0;
  const output = items.reduce(
    (sum, { item, text }) => sum + (item.type === 'reasoning' ? 0 : countTokens(text)),
    hidden,
  );
  const figures = figuresOf(call, directives, countTokens(promptText(call)), output, hidden);
  const isCut = message?.finishReason === 'length';
  const start = {
    id: `resp_${seed.id}`,
    object: 'response',
    created_at: CREATED,
    model: call.model.id,
    background: false,
    error: null,
    parallel_tool_calls: call.fields.parallel_tool_calls !== false,
    previous_response_id: null,
    service_tier: 'default',
    store: call.fields.store !== false,
    temperature: call.fields.temperature ?? 1,
    top_p: call.fields.top_p ?? 1,
    ...Object.fromEntries(repeated.map((name) => [name, call.fields[name] ?? usual[name] ?? null])),
  };
  const end = {
    ...start,
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: items.map(({ item }) => item),
    usage: figures.usage,
  };
  if (!call.stream) return withEnergy(jsonReply({ ...end, ...echo }, output), figures.energy);
  const begun = { ...start, status: 'in_progress', incomplete_details: null, output: [], usage: null };
  const failed = { ...start, status: 'failed', ...failedEnd, incomplete_details: null, output: [], usage: null };
  const events = responseEvents({ begun: { ...begun, ...echo }, end, failed, items, energy: figures.energy });
  return streamOf(call, events, figures);
}

const usual: Readonly<Record<string, unknown>> = {
  metadata: {},
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  truncation: 'disabled',
};

const streamOf = ({ model }: Call, events: ResponseEvents, { energy }: Figures): StreamReply => ({
  kind: 'stream',
  headers: energy.headers,
  ...events,
  tokensPerSecond: model.tokensPerSecond,
  firstTokenMs: model.firstTokenMs,
});
