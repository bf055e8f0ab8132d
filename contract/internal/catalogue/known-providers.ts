/**
 * How well-known providers and servers are called, as entries of the catalogue can be made from it.
 *
 * Written after what they publish, at the address in `source`; not tried against the live services, which cost money. What is
 * absent is as with OpenAI.
 */
import type { RequestFields } from './request-fields.ts';

export interface KnownProvider {
  readonly name: string;
  /** Absent: each has an address of its own. */
  readonly base_url?: string;
  /** What the address looks like where each has its own. */
  readonly example?: string;
  readonly path?: string;
  readonly auth_header?: string;
  readonly auth_scheme?: string | null;
  readonly request_fields?: RequestFields;
  /** Where its documentation says that it tells how it is, without a credential and without computing anything. */
  readonly health_path?: string;
  readonly source: string;
}

/** Fields that answer 422 there, since it takes no others than its own. */
const unknownToMistral = {
  ...{ max_completion_tokens: 'max_tokens', seed: 'random_seed', logit_bias: null },
  ...{ user: null, store: null, metadata: null, service_tier: null, verbosity: null, safety_identifier: null },
  ...{ prompt_cache_key: null, stream_options: null },
} as const satisfies RequestFields;

export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  openai: {
    ...{ name: 'OpenAI', base_url: 'https://api.openai.com/v1', source: 'platform.openai.com/docs/api-reference' },
  },
  'azure-openai': {
    ...{
      name: 'Azure OpenAI',
      example: 'https://resource.openai.azure.com',
      auth_header: 'api-key',
      auth_scheme: null,
    },
    path: 'openai/deployments/{model}/{endpoint}?api-version=2024-10-21',
    source: 'learn.microsoft.com/azure/ai-services/openai/reference',
  },
  'azure-openai-v1': {
    ...{ name: 'Azure OpenAI (v1 API)', example: 'https://resource.openai.azure.com/openai/v1' },
    ...{ auth_header: 'api-key', auth_scheme: null },
    source: 'learn.microsoft.com/azure/ai-foundry/openai/reference',
  },
  mistral: {
    ...{ name: 'Mistral', base_url: 'https://api.mistral.ai/v1', request_fields: unknownToMistral },
    source: 'docs.mistral.ai/api',
  },
  anthropic: {
    ...{ name: 'Anthropic (compatible endpoint)', base_url: 'https://api.anthropic.com/v1' },
    source: 'platform.claude.com/docs/en/api/openai-sdk',
  },
  'google-gemini': {
    ...{ name: 'Google Gemini (compatible endpoint)' },
    base_url: 'https://generativelanguage.googleapis.com/v1beta/openai',
    source: 'ai.google.dev/gemini-api/docs/openai',
  },
  openrouter: {
    ...{ name: 'OpenRouter', base_url: 'https://openrouter.ai/api/v1', source: 'openrouter.ai/docs/api-reference' },
  },
  litellm: {
    ...{ name: 'LiteLLM proxy', example: 'http://127.0.0.1:4000/v1', source: 'docs.litellm.ai/docs/simple_proxy' },
    // docs.litellm.ai/docs/proxy/health; `/health` makes calls there.
    health_path: '/health/liveliness',
  },
  vllm: {
    ...{ name: 'vLLM', example: 'http://127.0.0.1:8000/v1', health_path: '/health' },
    source: 'docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
  },
  sglang: {
    // Its `/health` generates a token, so there is none.
    ...{ name: 'SGLang', example: 'http://127.0.0.1:30000/v1' },
    source: 'docs.sglang.ai/basic_usage/openai_api_completions.html',
  },
  tgi: {
    ...{ name: 'Text Generation Inference', example: 'http://127.0.0.1:8080/v1', health_path: '/health' },
    // It knows the older name alone, and bounds an answer without it at 100 tokens.
    request_fields: { max_completion_tokens: 'max_tokens' },
    source: 'huggingface.co/docs/text-generation-inference/messages_api',
  },
  ollama: {
    ...{ name: 'Ollama', example: 'http://127.0.0.1:11434/v1' },
    // docs.ollama.com/api-reference/get-version
    health_path: '/api/version',
    request_fields: { max_completion_tokens: 'max_tokens' },
    source: 'docs.ollama.com/api/openai-compatibility',
  },
  'llama-cpp': {
    // 503 while it loads a model.
    ...{ name: 'llama.cpp server', example: 'http://127.0.0.1:8080/v1', health_path: '/health' },
    source: 'github.com/ggml-org/llama.cpp/tree/master/tools/server',
  },
};
