/**
 * The three official ways to ask a model that its provider speaks another API of, with the same questions and in the same words back, so that
 * each test runs for every pair.
 */
import Anthropic from '@anthropic-ai/sdk';
import type { Receipt } from '@gw/contract/receipt';
import type { RoutingTrace } from '@gw/contract/routing-trace';
import type OpenAI from 'openai';
import { apiOf, removeEntries } from '../operator-api.ts';
import { additionsOf, eventually, openAi, quick, stack } from './gateway.ts';

export const apis = ['chat', 'messages', 'responses'] as const;
export type Api = (typeof apis)[number];
export const pairs = apis.flatMap((client) =>
  apis.flatMap((behind) => (client === behind ? [] : [[client, behind] as const])),
);

/** The model that only a provider of this API has. */
export const modelBehind = (api: Api) => `only-${api}`;
/** An alias whose first target is only behind one API, and the other only behind another. */
export const aliasOf = (first: Api, second: Api) => `${first}-then-${second}`;
const orders = apis.flatMap((first) => apis.flatMap((second) => (first === second ? [] : [[first, second] as const])));

export interface Question {
  readonly model: string;
  readonly text?: string;
  readonly picture?: string;
  /** Both tools have to be called, in any order. */
  readonly tools?: boolean;
  readonly schema?: boolean;
  readonly thinks?: boolean;
  readonly max?: number;
  readonly gw?: object;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly text: string;
  readonly thought: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly said: unknown }[];
  readonly end: 'end' | 'length' | 'tools' | 'refusal';
  readonly usage: {
    readonly prompt: number;
    readonly completion: number;
    readonly cached: number;
    readonly reasoning: number;
  };
  readonly gw: Receipt;
  readonly trace: RoutingTrace;
}

const city = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const zone = { type: 'object' as const, properties: { zone: { enum: ['UTC', 'CET'] } }, required: ['zone'] };
const tools = [
  { name: 'get_weather', description: 'Tells the weather', parameters: city },
  { name: 'get_time', description: 'Tells the time', parameters: zone },
];
const schema = { ...city, additionalProperties: false };
const usual = 'What is the weather?';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
export const picture = `data:image/png;base64,${png}`;

const anthropic = (key: string) => new Anthropic({ apiKey: key, baseURL: stack.publicUrl, maxRetries: 0 });
const optionsOf = ({ headers = {}, signal }: Question) => ({
  headers: { ...quick, ...headers },
  ...(signal && { signal }),
});

function added(reply: unknown): Pick<Answer, 'gw' | 'trace'> {
  const { gw, routing_trace: trace } = additionsOf(reply);
  if (gw === undefined || trace === undefined) throw new Error(`There is no receipt in ${JSON.stringify(reply)}`);
  return { gw, trace };
}

export interface Client {
  ask(question: Question, key?: string): Promise<Answer>;
  stream(question: Question, key?: string): Promise<Answer>;
  /** The body of a question, for plain HTTP. */
  body(question: Question): Record<string, unknown>;
  readonly path: string;
}

const chatBody = ({ gw, max, model, picture: url, schema: isJson, text = usual, thinks, tools: calls }: Question) => ({
  model,
  messages: [
    { role: 'system' as const, content: 'Be brief.' },
    {
      role: 'user' as const,
      content: url
        ? [
            { type: 'text' as const, text },
            { type: 'image_url' as const, image_url: { url } },
          ]
        : text,
    },
  ],
  ...(max && { max_completion_tokens: max }),
  ...(calls && {
    tools: tools.map((each) => ({ type: 'function' as const, function: each })),
    tool_choice: 'required' as const,
    parallel_tool_calls: true,
  }),
  ...(isJson && {
    response_format: { type: 'json_schema' as const, json_schema: { name: 'weather', schema, strict: true } },
  }),
  ...(thinks && { reasoning_effort: 'low' as const }),
  ...(gw && { gw }),
});

type Completion = OpenAI.Chat.ChatCompletion;
const chatEnds = {
  stop: 'end',
  length: 'length',
  tool_calls: 'tools',
  content_filter: 'refusal',
  function_call: 'tools',
} as const;
function chatAnswer(reply: Completion, carrier: unknown = reply): Answer {
  const [choice] = reply.choices;
  if (choice === undefined || !reply.usage) throw new Error(`No answer in ${JSON.stringify(reply)}`);
  const { finish_reason: reason, message } = choice;
  return {
    text: message.content ?? message.refusal ?? '',
    thought: String((message as { reasoning_content?: string }).reasoning_content ?? ''),
    calls: (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, said: JSON.parse(call.function.arguments) }]
        : [],
    ),
    end: message.refusal ? 'refusal' : chatEnds[reason],
    usage: {
      prompt: reply.usage.prompt_tokens,
      completion: reply.usage.completion_tokens,
      cached: reply.usage.prompt_tokens_details?.cached_tokens ?? 0,
      reasoning: reply.usage.completion_tokens_details?.reasoning_tokens ?? 0,
    },
    ...added(carrier),
  };
}

const messagesBody = ({
  gw,
  max,
  model,
  picture: url,
  schema: isJson,
  text = usual,
  thinks,
  tools: calls,
}: Question) => ({
  model,
  max_tokens: max ?? 4000,
  system: 'Be brief.',
  messages: [
    {
      role: 'user' as const,
      content: url
        ? [
            { type: 'text' as const, text },
            {
              type: 'image' as const,
              source: { type: 'base64' as const, media_type: 'image/png' as const, data: url.split(',')[1] ?? '' },
            },
          ]
        : text,
    },
  ],
  ...(calls && {
    tools: tools.map(({ parameters, ...each }) => ({ ...each, input_schema: parameters })),
    tool_choice: { type: 'any' as const, disable_parallel_tool_use: false },
  }),
  ...(isJson && { output_config: { format: { type: 'json_schema' as const, schema } } }),
  ...(thinks && { thinking: { type: 'enabled' as const, budget_tokens: 1024 } }),
  ...(gw && { gw }),
});

const messageEnds: Readonly<Record<string, Answer['end']>> = {
  end_turn: 'end',
  max_tokens: 'length',
  tool_use: 'tools',
  refusal: 'refusal',
};
function messageAnswer(reply: Anthropic.Message, carrier: unknown = reply): Answer {
  const { content, stop_reason: reason, usage } = reply;
  return {
    text: content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
    thought: content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : [])).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, said: block.input }] : [],
    ),
    end: messageEnds[String(reason)] ?? 'end',
    usage: {
      prompt: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      completion: usage.output_tokens,
      cached: usage.cache_read_input_tokens ?? 0,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
    ...added(carrier),
  };
}

const responsesBody = ({
  gw,
  max,
  model,
  picture: url,
  schema: isJson,
  text = usual,
  thinks,
  tools: calls,
}: Question) => ({
  model,
  instructions: 'Be brief.',
  input: url
    ? [
        {
          role: 'user' as const,
          content: [
            { type: 'input_text' as const, text },
            { type: 'input_image' as const, image_url: url, detail: 'auto' as const },
          ],
        },
      ]
    : text,
  ...(max && { max_output_tokens: max }),
  ...(calls && {
    tools: tools.map((each) => ({ type: 'function' as const, strict: false, ...each })),
    tool_choice: 'required' as const,
    parallel_tool_calls: true,
  }),
  ...(isJson && { text: { format: { type: 'json_schema' as const, name: 'weather', schema, strict: true } } }),
  ...(thinks && { reasoning: { effort: 'low' as const, summary: 'auto' as const } }),
  ...(gw && { gw }),
});

function responseAnswer(reply: OpenAI.Responses.Response): Answer {
  const { incomplete_details: cut, output, usage } = reply;
  if (!usage) throw new Error('No usage');
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [{ id: item.call_id, name: item.name, said: JSON.parse(item.arguments) }] : [],
  );
  const isRefused = parts.some(({ type }) => type === 'refusal') || cut?.reason === 'content_filter';
  return {
    text: parts.map((part) => (part.type === 'output_text' ? part.text : part.refusal)).join(''),
    thought: output
      .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
      .map((part) => part.text)
      .join(''),
    calls,
    end: isRefused ? 'refusal' : cut ? 'length' : calls.length > 0 ? 'tools' : 'end',
    usage: {
      prompt: usage.input_tokens,
      completion: usage.output_tokens,
      cached: usage.input_tokens_details.cached_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens,
    },
    ...added(reply),
  };
}

export const clients: Readonly<Record<Api, Client>> = {
  chat: {
    path: '/v1/chat/completions',
    body: chatBody,
    ask: async (question, key) =>
      chatAnswer(await openAi(key).chat.completions.create(chatBody(question), optionsOf(question))),
    stream: async (question, key) => {
      const body = { ...chatBody(question), stream_options: { include_usage: true } };
      let carrier: unknown = null;
      let thought = '';
      const stream = openAi(key).chat.completions.stream(body, optionsOf(question));
      stream.on('chunk', (chunk) => {
        if ('gw' in chunk) carrier = chunk;
        for (const { delta } of chunk.choices)
          thought += String((delta as { reasoning_content?: string }).reasoning_content ?? '');
      });
      return { ...chatAnswer(await stream.finalChatCompletion(), carrier), thought };
    },
  },
  messages: {
    path: '/v1/messages',
    body: messagesBody,
    ask: async (question, key = stack.keys.auditPlus) =>
      messageAnswer(await anthropic(key).messages.create(messagesBody(question), optionsOf(question))),
    stream: async (question, key = stack.keys.auditPlus) => {
      const stream = anthropic(key).messages.stream(messagesBody(question), optionsOf(question));
      let carrier: unknown = null;
      stream.on('streamEvent', (event) => {
        if ('gw' in event) carrier = event;
      });
      return messageAnswer(await stream.finalMessage(), carrier);
    },
  },
  responses: {
    path: '/v1/responses',
    body: responsesBody,
    ask: async (question, key) =>
      responseAnswer(await openAi(key).responses.create(responsesBody(question), optionsOf(question))),
    stream: async (question, key) =>
      responseAnswer(await openAi(key).responses.stream(responsesBody(question), optionsOf(question)).finalResponse()),
  },
};

/** The code of an error, where each client has it. */
export function codeOf(error: unknown): unknown {
  const { code, error: body } = error as { code?: unknown; error?: { code?: unknown; error?: { code?: unknown } } };
  return code ?? body?.code ?? body?.error?.code;
}

const entries = [
  ...orders.map(([first, second]) => `aliases/${aliasOf(first, second)}`),
  ...apis.map((api) => `deployments/${modelBehind(api)}`),
  ...apis.map((api) => `models/${modelBehind(api)}`),
  ...apis.map((api) => `providers/${modelBehind(api)}`),
];
type GatewayPlace = Pick<typeof stack, 'controlUrl' | 'keys' | 'operatorToken' | 'publicUrl' | 'simulatorUrl'>;
export const removeProviders = (place: GatewayPlace = stack) => removeEntries(apiOf(place), ...entries);

/** Sends a question without a client. */
export const send = (
  place: GatewayPlace,
  from: Api,
  question: Question,
  more: { readonly fields?: object; readonly key?: string } = {},
): Promise<Response> =>
  fetch(`${place.publicUrl}${clients[from].path}`, {
    method: 'POST',
    body: JSON.stringify({ ...clients[from].body(question), ...more.fields }),
    headers: {
      authorization: `Bearer ${more.key ?? place.keys.auditPlus}`,
      'content-type': 'application/json',
      ...question.headers,
    },
  });

/** Adds a provider for each API, which the faults of the simulator find by that API's name, a model at each, and aliases over two of them. */
export async function addProviders(place: GatewayPlace = stack): Promise<void> {
  await removeProviders(place);
  const api = apiOf(place);
  const add = (kind: string, entry: object) => api.send('POST', `/operator/v1/${kind}`, entry);
  for (const name of apis) {
    const id = modelBehind(name);
    const base_url = `${place.simulatorUrl}/${name}/v1`;
    await add('providers', { id, name: id, kind: 'simulator', apis: [name], base_url });
    const size = { total_parameters_b: 8, active_parameters_b: 8, context_window: 100_000 };
    await add('models', { id, owned_by: 'test', kind: 'chat', ...size });
    await add('deployments', { id, provider: id, region: 'eu-north', pue: 1.1, models: { [id]: 'sim-small' } });
  }
  for (const [first, second] of orders)
    await add('aliases', {
      id: aliasOf(first, second),
      targets: [{ model: modelBehind(first) }, { model: modelBehind(second) }],
    });
  await eventually('all to answer', async () => {
    const tried = await Promise.all(
      apis.map((name) => send(place, name, { model: modelBehind(name), headers: quick })),
    );
    return tried.every(({ ok }) => ok) || null;
  });
}
