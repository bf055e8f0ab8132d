/**
 * How providers say that a deployment needs its operator: codes, and patterns of Lua for the beginning of a message, all in lower case.
 *
 * Invariant: a pattern fits the beginning of a message alone, since providers repeat parts of the client's request further on. Only
 * `missingPhrases` may stand anywhere, because the provider names the field `model` beside them.
 */
import type { OperatorFault } from '@gw/contract/internal/operator-faults';

interface FaultWords {
  readonly codes: readonly string[];
  readonly beginnings: readonly string[];
}

export const faultWords: Readonly<Record<OperatorFault, FaultWords>> = {
  auth_failed: {
    codes: [
      'invalid_api_key',
      'invalidapikey',
      'authentication_error',
      'authenticationerror',
      // Gemini answers 400.
      'api_key_invalid',
      // Bedrock
      'unrecognizedclientexception',
      'expiredtokenexception',
      'invalidsignatureexception',
    ],
    beginnings: [
      '^api key not valid',
      '^api key expired',
      '^incorrect api key',
      '^invalid api key',
      '^missing api key',
      '^the security token included in the request is',
    ],
  },
  quota_exhausted: {
    codes: [
      'insufficient_quota',
      'billing_hard_limit_reached',
      'billing_not_active',
      'insufficient_balance',
      'insufficient_credits',
      // one-api, new-api
      'insufficient_user_quota',
      // Moonshot
      'exceeded_current_quota_error',
      // Alibaba, Volcengine, Zhipu
      'arrearage',
      'allocationquota.freetieronly',
      'accountoverdueerror',
      '1113',
    ],
    beginnings: [
      // Anthropic answers 400.
      '^your credit balance is too low',
      '^insufficient balance',
      '^insufficient credits',
      '^your account is not active',
      '^your account [^ ]+ is suspended',
      '^access denied, please make sure your account is in good standing',
      // xAI
      '^your team [^ ]+ has either used all available credits',
    ],
  },
  model_missing: {
    codes: [
      // OpenAI, Groq, Alibaba, Hugging Face, LM Studio
      'model_not_found',
      'modelnotfound',
      'model_not_exist',
      'model_not_available',
      'model_not_supported',
      'model_decommissioned',
      'model_terms_required',
      'model_deprecated',
      // Mistral, Perplexity
      'invalid_model',
      // Azure, GitHub
      'deploymentnotfound',
      'operationnotsupported',
      'modeldeprecated',
      'unknown_model',
      'unavailable_model',
      'no_model_name',
      // Bedrock
      'resourcenotfoundexception',
      // Volcengine, Zhipu
      'modelnotopen',
      'invalidendpointormodel',
      'invalidendpointormodel.notfound',
      '1211',
    ],
    beginnings: [
      // OpenAI, vLLM, xAI, Groq, DeepInfra
      '^the model:? [^ ]+ does not exist',
      '^the model:? [^ ]+ has been de',
      '^the model:? [^ ]+ was not found',
      '^the model:? [^ ]+ is not available',
      '^the model:? [^ ]+ not found',
      '^this is not a chat model',
      '^this model is only supported in v1/',
      '^this model is not supported in the v1/',
      // Hugging Face
      '^the requested model [^ ]+ does not exist',
      '^the requested model [^ ]+ is not supported',
      // Ollama, SGLang, Cohere
      '^model:? [^ ]+ not found',
      '^model:? [^ ]+ is not found',
      '^model:? [^ ]+ was not found',
      '^model:? [^ ]+ does not exist',
      '^model:? [^ ]+ is not available',
      '^model:? [^ ]+ is not supported',
      // DeepSeek, Fireworks
      '^model not exist',
      '^model does not exist',
      '^model not found',
      '^no such model',
      '^unknown model',
      // Mistral, Perplexity, LiteLLM
      '^invalid model:',
      '^invalid model name',
      '^invalid model id',
      '^invalid model [\\\'"`]',
      // Moonshot
      '^not found the model',
      // Together
      '^unable to access [^ ]*%s?model',
      // Gemini, Vertex AI
      '^models/[^ ]+ is not found',
      '^publisher model [^ ]+ was not found',
      // Azure
      '^the api deployment for this resource does not exist',
      '^the [^ ]+ operation does not work with the specified model',
      // Bedrock
      '^the provided model identifier is invalid',
      '^could not resolve the foundation model',
      '^invocation of model id',
      "^you don't have access to the model",
      '^this model version has reached the end',
      // OpenRouter, LiteLLM, LM Studio
      '^no endpoints found for',
      '^[^ ]+ is not a valid model id',
      '^no healthy deployment',
      '^there are no healthy deployments',
      '^no models loaded',
    ],
  },
};

/** Codes and beginnings of a 404 that is about the path or the deployment and names no model. */
export const unknownPlace: FaultWords = {
  codes: ['notfounderror', 'not_found_error', 'resource_not_found_error', 'resourcenotfound'],
  beginnings: [
    '^not found%.?$',
    '^404 page not found',
    '^404 not found',
    '^page not found',
    '^file not found$',
    '^resource not found',
    '^the requested resource was not found',
    '^the requested url',
    '^no route matched',
    '^no static resource',
    '^cannot post /',
    '^unknown request url',
    '^unrecognized request url',
    '^invalid url',
  ],
};

/** Phrases that say, anywhere in a message about the field `model`, that the model is missing. */
export const missingPhrases: readonly string[] = [
  'not exist',
  'not found',
  'unknown',
  'not available',
  'no such',
  'not supported',
  'invalid model',
  'not a valid model',
  'deprecated',
  'no longer',
];
