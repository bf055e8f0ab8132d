import type { Endpoint } from '@gw/testing/receipt-sidecar/request-fields/field';
import { describe, expect, it } from 'vitest';
import { parseRequest } from './parse.ts';
import { outgoing, serialise } from './provider-body.ts';

const least: Readonly<Record<Endpoint, object>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  completions: { model: 'm', prompt: 'hi' },
  embeddings: { model: 'm', input: 'hi' },
  responses: { model: 'm', input: 'hi' },
  messages: { model: 'm', max_tokens: 8, messages: [{ role: 'user', content: 'hi' }] },
};
const endpoints = Object.keys(least) as Endpoint[];
const parse = (endpoint: Endpoint, fields: object) =>
  parseRequest(endpoint, Buffer.from(JSON.stringify({ ...least[endpoint], ...fields })));
function refusedAs(endpoint: Endpoint, fields: object): string | null {
  const parsed = parse(endpoint, fields);
  if (parsed.ok) return 'nothing';
  expect(parsed.error).toMatchObject({ code: 'unsupported_field', type: 'validation_error', status: 400 });
  return parsed.error.param;
}

describe.each(endpoints)('in a request for %s, a field that steers the provider', (endpoint) => {
  it.each([
    ...['base_url', 'api_base', 'api_key', 'models', 'fallbacks', 'route', 'provider', 'custom_llm_provider'],
    ...['extra_headers', 'extra_query', 'api_version', 'api_type', 'organization', 'headers', 'transforms', 'plugins'],
    ...['mock_response', 'litellm_params', '_litellm_strip_stream_usage', 'deployment_id', 'region_name', 'tags'],
    ...['aws_role_name', 'vertex_credentials', 'azure_ad_token', 'user_config', 'num_retries', 'timeout', 'cache'],
    ...['guardrails', 'proxy', 'langfuse_host', 's3_endpoint_url', 'input_cost_per_token', 'prompt_id', 'no-log'],
    ...['data_sources', 'kv_transfer_params', 'bootstrap_host', 'lora_path', 'preset', 'providerOptions'],
    ...['chat_template', 'adapter', 'adapters', 'lora', 'lora_request', 'draft_model', 'config', 'targets'],
    ...['priority', 'rid', 'request_id', 'virtual_key', 'backend_instance_id', 'awsRegionName', 'mockResponse'],
  ])('is refused and named: %s', (name) => {
    for (const value of ['http://127.0.0.1/', ['a'], { a: 1 }, null])
      expect(refusedAs(endpoint, { [name]: value }), JSON.stringify(value)).toBe(name);
  });

  it('is refused in the letters that another decoder reads as it', () => {
    for (const name of ['API_BASE', 'apiBase', 'api-base', 'baseURL', 'modelſ', 'Bac\u212Aend', 'bac\u212Aend'])
      expect(refusedAs(endpoint, { [name]: 1 }), name).toBe(name.toLowerCase().startsWith('bac') ? 'nothing' : name);
    // Messages have no field `user`.
    for (const name of ['Model', 'MODEL', 'Uſer', 'GW', 'Extra_Body', 'extraBody', 'extra-body', 'g_w'])
      expect(refusedAs(endpoint, { [name]: 'other' }), name).toBe(
        name === 'Uſer' && endpoint === 'messages' ? 'nothing' : name,
      );
    for (const name of ['extra_body ', ' gw', 'api_base\u200b', `models${' '.repeat(1000)}`])
      expect(refusedAs(endpoint, { [name]: { gw: {} } }), name).toBe(name.trim());
  });

  it('is refused inside of what is passed on to an engine, a template or a router', () => {
    const url = 'http://169.254.169.254/';
    for (const [field, value, param] of [
      ['chat_template_kwargs', { chat_template: '{{ "other" }}' }, 'chat_template_kwargs.chat_template'],
      ['vllm_xargs', { kv_transfer_params: { remote_host: 'a' } }, 'vllm_xargs.kv_transfer_params'],
      ['model_kwargs', { apiBase: url }, 'model_kwargs.apiBase'],
      ['optional_params', { api_base: url }, 'optional_params.api_base'],
      ['kwargs', { extra_body: { api_base: url } }, 'kwargs.extra_body'],
      ['Extra_Args', { a: 1, 'base-url': url }, 'Extra_Args.base-url'],
      ['engine_args', { model_kwargs: { base_url: url } }, 'engine_args.model_kwargs.base_url'],
      ['sampling_params', { model: 'larger' }, 'sampling_params.model'],
      ['sampling_params', { inputIds: [1] }, 'sampling_params.inputIds'],
      ['litellm_params', { api_base: url }, 'litellm_params'],
      ['nvext', { backend_instance_id: 7 }, 'nvext.backend_instance_id'],
      ['nvext', { token_data: [1, 2] }, 'nvext.token_data'],
      ['search_parameters', { sources: [{ type: 'web' }, { links: [url] }] }, 'search_parameters.sources[1].links'],
    ] as const)
      expect(refusedAs(endpoint, { [field]: value }), `${field} ${JSON.stringify(value)}`).toBe(param);
  });

  it('is refused where a tool would have the provider call a server', () => {
    const mcp = { type: 'mcp', server_label: 'x', server_url: 'http://10.0.0.5/' };
    const tools = (...more: object[]) => refusedAs(endpoint, { tools: [{ type: 'web_search' }, ...more] });
    expect(tools(mcp)).toBe('tools[1].server_url');
    expect(tools({ type: 'mcp', connector_id: 'connector_x' })).toBe('tools[1].connector_id');
    expect(tools({ type: 'MCP', server_label: 'x' })).toBe('tools[1].type');
    expect(tools({ type: 'other', serverUrl: 'http://10.0.0.5/' })).toBe('tools[1].serverUrl');
    expect(tools({ type: 'other', other: { server_url: 'http://10.0.0.5/' } })).toBe('tools[1].other.server_url');
    const properties = { server_url: { type: 'string' }, api_base: { type: 'mcp' } };
    const parameters = { type: 'object', properties };
    expect(tools({ type: 'function', name: 'f', function: { name: 'f', parameters } }), 'the client’s own').toBe(
      'nothing',
    );
  });

  it('is refused where LiteLLM reads it besides', () => {
    for (const name of [
      ...['api_base', 'langfuse_host', 'user_api_key_team_id', 'litellm_api_key'],
      ...['disable_global_guardrail', 'disable_global_guardrails', 'guardrails'],
    ])
      expect(refusedAs(endpoint, { metadata: { plain: 'x', [name]: 'http://127.0.0.1/' } })).toBe(`metadata.${name}`);
    // Their pairs are texts.
    if (endpoint === 'chat' || endpoint === 'responses') return;
    expect(refusedAs(endpoint, { metadata: { tags: ['paid'] } })).toBe('metadata.tags');
  });

  it('is not one that clients send: those of OpenAI and of other servers pass unchanged', () => {
    const harmless = {
      user: 'someone',
      metadata: { tags: 'a', organization: 'acme', provider: 'x', headers: 'y', timeout: '3', customer: 'z' },
      top_k: 40,
      min_p: 0.1,
      repetition_penalty: 1.1,
      min_tokens: 1,
      stop_token_ids: [1],
      ignore_eos: false,
      reasoning: { effort: 'low' },
      include_reasoning: true,
      enable_thinking: false,
      thinking: { type: 'off' },
      chat_template_kwargs: { enable_thinking: false },
      guided_json: { type: 'object' },
      guided_choice: ['a'],
      mm_processor_kwargs: {},
      safe_prompt: true,
      prefix: 'a',
      usage: { include: true },
      verbosity_level: 1,
      route_hint: 'near',
      model_kwargs: {},
      provider_name: 'x',
      truncate: 'END',
      input_type: 'query',
      task: 'a',
      search_parameters: { mode: 'auto', sources: [{ type: 'web', country: 'DE' }] },
      nvext: { ignore_eos: true },
      sampling_params: { top_k: 4, temperature: 1 },
      vllm_xargs: { a: 1 },
      extra_args: [1],
      custom_params: null,
      cache_control: { type: 'ephemeral' },
      session_id: 's',
      [`base_url${'x'.repeat(100)}`]: 1,
      '': 1,
      '0': 1,
    };
    const parsed = parse(endpoint, harmless);
    if (!parsed.ok) throw new Error(`${parsed.error.param}: ${parsed.error.message}`);
    expect(
      JSON.parse(
        Buffer.concat(
          serialise(outgoing(parsed.value), { providerModel: 'm', takesTemperature: false, refused: [] }),
        ).toString(),
      ),
    ).toEqual({
      ...least[endpoint],
      ...harmless,
      ...(endpoint === 'responses' && { store: false }),
    });
  });
});

it('every field that OpenAI has for a chat passes', () => {
  const fields = {
    store: true,
    service_tier: 'flex',
    safety_identifier: 'a',
    prompt_cache_key: 'b',
    reasoning_effort: 'low',
    verbosity: 'low',
    modalities: ['text'],
    parallel_tool_calls: true,
    response_format: { type: 'json_object' },
    web_search_options: {},
    tools: [{ type: 'web_search' }],
    prompt_cache_retention: '24h',
    logit_bias: { 5: 1 },
  };
  const parsed = parse('chat', fields);
  expect(parsed.ok && parsed.value.body).toEqual({ ...least.chat, ...fields });
});

it('a name is not said back at length', () => {
  const parsed = parse('chat', { [`Litellm_${'x'.repeat(1_000_000)}`]: 1 });
  expect(parsed.ok).toBe(true);
});

it.each([
  ['chat', 'max_tokens'],
  ['chat', 'max_completion_tokens'],
  ['completions', 'max_tokens'],
  ['embeddings', 'dimensions'],
] as const)('a count above 32 bits is refused: %s, %s', (endpoint, field) => {
  expect(parse(endpoint, { [field]: 2 ** 31 - 1 }).ok).toBe(true);
  for (const count of [2 ** 31, 1e15]) {
    const parsed = parse(endpoint, { [field]: count });
    expect(parsed.ok ? null : parsed.error).toMatchObject({ code: `invalid_${field}`, param: field, status: 400 });
  }
});
