/**
 * Fields by which a client would steer the provider itself: where it sends the call, with whose credential, to which model,
 * past which checks. Behind another gateway they are a way into its network, and round the models that an account may use.
 *
 * Invariant: none of them reaches a provider. Which provider takes a call is not known yet, and may change by a fail-over,
 * so what any of them obeys holds for all. Other unknown fields are the provider's business and pass.
 */
import { chatRequestSchema } from '@gw/contract/chat';
import { completionRequestSchema } from '@gw/contract/completions';
import { embeddingRequestSchema } from '@gw/contract/embeddings';
import { type ApiError, apiError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import type { Endpoint } from './parse.ts';

/** These are obeyed in `metadata` too. */
const connection = ['base_url', 'api_base', 'api_key', 'user_config'];

/** By the kind of server that obeys them; `openai` is what every kind of provider of the catalogue speaks. */
const steering = {
  openai: [
    ...connection,
    ...['api_url', 'api_host', 'endpoint', 'endpoint_url', 'server_url', 'deployment_url'],
    ...['api_token', 'access_token', 'auth_token', 'hf_token', 'authorization', 'credentials'],
    ...['api_version', 'api_type', 'organization', 'engine', 'deployment', 'deployment_id', 'deployment_name'],
    ...['headers', 'extra_headers', 'extra_query', 'default_headers', 'default_query', 'proxy', 'proxies', 'proxy_url'],
    ...['webhook', 'webhook_url', 'callback_url', 'mcp_servers'],
  ],
  litellm: [
    ...['custom_llm_provider', 'provider_specific_header', 'configurable_clientside_auth_params', 'region_name'],
    ...['client_id', 'client_secret', 'tenant_id', 'ssl_verify', 'http_client', 'shared_session', 'secret_fields'],
    ...['fallbacks', 'fallback_models', 'default_fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks'],
    ...['context_window_fallback_dict', 'disable_fallbacks', 'max_fallbacks', 'fallback_depth', 'fastest_response'],
    ...[
      'model_list',
      'model_info',
      'model_id',
      'model_alias_map',
      'model_group_alias',
      'base_model',
      'allowed_model_region',
    ],
    ...[
      'router_settings',
      'router_settings_override',
      'routing_strategy',
      'specific_deployment',
      'enable_tag_filtering',
    ],
    ...['tags', 'tag_regex', 'timeout', 'request_timeout', 'stream_timeout', 'force_timeout', 'cooldown_time'],
    ...['num_retries', 'max_retries', 'retry_policy', 'retry_strategy', 'max_agentic_loops', 'proxy_server_request'],
    ...['cache', 'caching', 'cache_key', 'preset_cache_key', 'caching_groups', 'max_budget', 'budget_duration'],
    ...['guardrails', 'guardrail_config', 'disable_global_guardrail', 'disable_global_guardrails', 'callbacks'],
    ...['success_callback', 'failure_callback', 'logger_fn', 'no_log', 'turn_off_message_logging'],
    // They put another prompt, and with it another model, in the place of the one that was screened.
    ...['prompt_id', 'prompt_variables', 'prompt_version', 'prompt_label', 'prompt_environment', 'custom_prompt_dict'],
    ...['allowed_openai_params', 'additional_drop_params', 'use_litellm_proxy', 'use_in_pass_through'],
  ],
  openrouter: ['models', 'route', 'provider', 'providers', 'transforms', 'plugins', 'preset'],
  vercel: ['provider_options'],
  // Azure fetches what is asked for from an address in the request.
  azure: ['data_sources'],
  // Where a server reads the attention cache of another, and which code or adapter it loads.
  vllm: ['kv_transfer_params', 'logits_processors', 'lora_request'],
  sglang: [
    'bootstrap_host',
    'bootstrap_port',
    'bootstrap_room',
    'data_parallel_rank',
    'lora_path',
    'custom_logit_processor',
  ],
  lorax: ['adapter_id', 'adapter_source', 'merged_adapters'],
} as const;

/** Families of LiteLLM: connections to clouds, and to systems that the texts of calls are copied to. */
const clouds = ['aws_', 'azure_', 'vertex_', 'sagemaker_', 'watsonx_', 'oci_', 's3_', 'gcs_', 'mock_', 'auto_router_'];
const observers = [
  ...['langfuse_', 'langsmith_', 'humanloop_', 'arize_', 'phoenix_', 'posthog_', 'wandb_', 'weave_', 'braintrust_'],
  ...['opik_', 'lunary_', 'helicone_', 'litellm_', 'user_api_key'],
];

/** Longest name that can be one of these; a longer one is not read. */
const longestName = 64;

/**
 * As a server that is not particular reads a name: Go's decoder takes `MODELS`, and `modelſ`, for `models`, and others take
 * `apiBase` and `api-base` for `api_base`.
 */
const lower = (name: string): string => name.toUpperCase().toLowerCase();
const folded = (name: string): string => lower(name).replaceAll(/[^a-z0-9]/g, '');

const names = new Set(Object.values(steering).flat().map(folded));
const connectionNames = new Set(connection.map(folded));

const isOf = (families: readonly string[], name: string): boolean => {
  const plain = lower(name).replace(/^_+/, '').replaceAll('-', '_');
  return families.some((beginning) => plain.startsWith(beginning));
};

const steers = (name: string): boolean =>
  names.has(folded(name)) || isOf(clouds, name) || isOf(observers, name) || lower(name).includes('_cost_per_');

/** LiteLLM looks here as well. Most names are a client's own labels; a list of tags chooses a deployment. */
const steersAsMetadata = (name: string, value: unknown): boolean =>
  connectionNames.has(folded(name)) || isOf(observers, name) || (folded(name) === 'tags' && typeof value !== 'string');

const ownNames: Readonly<Record<Endpoint, ReadonlySet<string>>> = {
  chat: new Set(Object.keys(chatRequestSchema.shape)),
  completions: new Set(Object.keys(completionRequestSchema.shape)),
  embeddings: new Set(Object.keys(embeddingRequestSchema.shape)),
};

const unsupported = (param: string, message: string): ApiError => apiError('unsupported_field', { param, message });
const steersMessage = (param: string): string =>
  `\`${param}\` is not supported: it would steer how the provider handles the call, which is the gateway's to decide. Leave it out.`;

/** `body`: as the schema of the endpoint took it. Null: nothing in it steers a provider. */
export function steeringField(endpoint: Endpoint, body: JsonObject): ApiError | null {
  const own = ownNames[endpoint];
  for (const name of Object.keys(body)) {
    if (own.has(name) || name.length > longestName) continue;
    if (steers(name)) return unsupported(name, steersMessage(name));
    // A server to which `Model` is `model` would serve another model than the one that was checked.
    if (own.has(lower(name)))
      return unsupported(name, `\`${name}\` is not supported: the name of the field is \`${lower(name)}\`.`);
  }
  const { metadata } = body;
  if (metadata === null || typeof metadata !== 'object') return null;
  for (const [name, value] of Object.entries(metadata)) {
    if (name.length > longestName || !steersAsMetadata(name, value)) continue;
    return unsupported(`metadata.${name}`, steersMessage(`metadata.${name}`));
  }
  return null;
}
