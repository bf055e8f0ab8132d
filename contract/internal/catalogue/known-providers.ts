/**
 * Templates for catalogue entries of well-known providers and servers.
 *
 * They follow the documentation in `source` and were not tried against the live services, which cost money. Absent fields are as for
 * OpenAI.
 */
import { type ApiName, apiNames } from './apis.ts';
import type { RequestFields } from './request-fields.ts';

export interface KnownProvider {
  readonly name: string;
  readonly apis: readonly ApiName[];
  /** Absent: each installation has its own. */
  readonly base_url?: string;
  /** Example for installations with their own URL. */
  readonly example?: string;
  readonly path?: string;
  readonly auth_header?: string;
  readonly auth_scheme?: string | null;
  readonly request_fields?: RequestFields;
  /** The documented health endpoint that needs no credential and runs no inference. */
  readonly health_path?: string;
  readonly source: string;
}

/** Mistral answers 422 to fields that it does not know. */
const unknownToMistral = {
  max_completion_tokens: 'max_tokens',
  seed: 'random_seed',
  logit_bias: null,
  user: null,
  store: null,
  metadata: null,
  service_tier: null,
  verbosity: null,
  safety_identifier: null,
  prompt_cache_key: null,
  stream_options: null,
} as const satisfies RequestFields;

/** These servers of one's own have them all in their newest releases; for an older one the operator lists what it has (`--apis`). */
const every = apiNames;

export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  openai: {
    name: 'OpenAI',
    apis: ['chat', 'completions', 'embeddings', 'responses'],
    base_url: 'https://api.openai.com/v1',
    source: 'platform.openai.com/docs/api-reference',
  },
  'azure-openai': {
    name: 'Azure OpenAI',
    apis: ['chat', 'completions', 'embeddings'],
    example: 'https://resource.openai.azure.com',
    auth_header: 'api-key',
    auth_scheme: null,
    path: 'openai/deployments/{model}/{endpoint}?api-version=2024-10-21',
    source: 'learn.microsoft.com/azure/ai-services/openai/reference',
  },
  'azure-openai-v1': {
    name: 'Azure OpenAI (v1 API)',
    apis: ['chat', 'completions', 'embeddings', 'responses'],
    example: 'https://resource.openai.azure.com/openai/v1',
    auth_header: 'api-key',
    auth_scheme: null,
    source: 'learn.microsoft.com/azure/ai-foundry/openai/reference',
  },
  mistral: {
    name: 'Mistral',
    apis: ['chat', 'embeddings'],
    base_url: 'https://api.mistral.ai/v1',
    request_fields: unknownToMistral,
    source: 'docs.mistral.ai/api',
  },
  anthropic: {
    name: 'Anthropic (compatible endpoint)',
    apis: ['chat'],
    base_url: 'https://api.anthropic.com/v1',
    source: 'platform.claude.com/docs/en/api/openai-sdk',
  },
  'anthropic-messages': {
    name: 'Anthropic (Messages API)',
    apis: ['messages'],
    base_url: 'https://api.anthropic.com/v1',
    auth_header: 'x-api-key',
    auth_scheme: null,
    source: 'platform.claude.com/docs/en/api/messages',
  },
  'google-gemini': {
    name: 'Google Gemini (compatible endpoint)',
    apis: ['chat', 'embeddings'],
    base_url: 'https://generativelanguage.googleapis.com/v1beta/openai',
    source: 'ai.google.dev/gemini-api/docs/openai',
  },
  openrouter: {
    name: 'OpenRouter',
    apis: every,
    base_url: 'https://openrouter.ai/api/v1',
    source: 'openrouter.ai/docs/api-reference',
  },
  litellm: {
    name: 'LiteLLM proxy',
    apis: every,
    example: 'http://127.0.0.1:4000/v1',
    source: 'docs.litellm.ai/docs/simple_proxy',
    // docs.litellm.ai/docs/proxy/health; `/health` makes calls there.
    health_path: '/health/liveliness',
  },
  vllm: {
    name: 'vLLM',
    apis: every,
    example: 'http://127.0.0.1:8000/v1',
    health_path: '/health',
    source: 'docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
  },
  sglang: {
    // No health path, since its `/health` generates a token.
    name: 'SGLang',
    apis: every,
    example: 'http://127.0.0.1:30000/v1',
    source: 'docs.sglang.ai/basic_usage/openai_api_completions.html',
  },
  tgi: {
    name: 'Text Generation Inference',
    apis: ['chat', 'completions'],
    example: 'http://127.0.0.1:8080/v1',
    health_path: '/health',
    // It only knows the older name, and limits an answer to 100 tokens without it.
    request_fields: { max_completion_tokens: 'max_tokens' },
    source: 'huggingface.co/docs/text-generation-inference/messages_api',
  },
  ollama: {
    name: 'Ollama',
    apis: every,
    example: 'http://127.0.0.1:11434/v1',
    // docs.ollama.com/api-reference/get-version
    health_path: '/api/version',
    request_fields: { max_completion_tokens: 'max_tokens' },
    source: 'docs.ollama.com/api/openai-compatibility',
  },
  'llama-cpp': {
    // 503 while it loads a model.
    name: 'llama.cpp server',
    apis: every,
    example: 'http://127.0.0.1:8080/v1',
    health_path: '/health',
    source: 'github.com/ggml-org/llama.cpp/tree/master/tools/server',
  },
};
