/**
 * The names of fields that steer a provider, by the kind of server that obeys them. How a name is compared, and where
 * in a request, is said in steering-fields.ts.
 */

/** Names of a connection, which are obeyed in `metadata` too. */
export const connection = ['base_url', 'api_base', 'api_key', 'user_config'];

/** Names by the kind of server that obeys them; every kind of provider of the catalogue speaks `openai`. */
export const steering = {
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
  // A template makes another prompt of the messages than the one that was screened. A priority jumps the queue of other
  // customers, and an id of one's own can be that of another's request.
  vllm: [
    ...['kv_transfer_params', 'logits_processors', 'lora_request', 'lora', 'draft_model'],
    ...['chat_template', 'priority', 'request_id'],
  ],
  sglang: [
    'bootstrap_host',
    'bootstrap_port',
    'bootstrap_room',
    'data_parallel_rank',
    'lora_path',
    'custom_logit_processor',
    'rid',
  ],
  lorax: ['adapter', 'adapters', 'adapter_id', 'adapter_source', 'merged_adapters'],
  dynamo: [
    ...['backend_instance_id', 'router_config_override', 'decode_worker_id', 'prefill_worker_id', 'worker_id'],
    ...['dp_rank', 'agent_hints', 'use_raw_prompt'],
  ],
  portkey: ['config', 'targets', 'virtual_key'],
} as const;

/** Names that are obeyed in `metadata` besides `connection`; most names there are a client's own labels. */
export const guardrails = ['guardrails', 'guardrail_config', 'disable_global_guardrail', 'disable_global_guardrails'];

/** Names in a tool by which the provider would call a server of the client's choice from within its own network. */
export const toolServers = [...connection, 'server_url', 'connector_id', 'authorization', 'headers'];

/**
 * Names of request fields that are refused in `…_kwargs`, `…_args` and `…_params`, which some servers unpack over the
 * request, and in `google`, where a stored prompt, which nobody screened, would come in front of this one.
 */
export const replacing = ['model', 'messages', 'prompt', 'input', 'extra_body', 'gw', 'cached_content'];

/** Beginnings of LiteLLM's names for connections to clouds. */
export const clouds = [
  'aws_',
  'azure_',
  'vertex_',
  'sagemaker_',
  'watsonx_',
  'oci_',
  's3_',
  'gcs_',
  'mock_',
  'auto_router_',
];
/** Beginnings of LiteLLM's names for systems that the texts of calls are copied to. */
export const observers = [
  ...['langfuse_', 'langsmith_', 'humanloop_', 'arize_', 'phoenix_', 'posthog_', 'wandb_', 'weave_', 'braintrust_'],
  ...['opik_', 'lunary_', 'helicone_', 'litellm_', 'user_api_key'],
];
