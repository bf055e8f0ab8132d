/** Replies of servers that only an operator can mend, and the fault that they tell of; null: the reply is about the client's request. */
type Faulty = readonly [server: string, status: number, body: object | string, fault: string | null];

const error = (fields: object) => ({ error: fields });
const litellm = (message: string, code: string) => error({ message, type: null, param: null, code });

export const operatorFaultReplies: readonly Faulty[] = [
  // The model
  [
    'OpenAI',
    404,
    error({
      message: 'The model `m` does not exist or you do not have access to it.',
      type: 'invalid_request_error',
      param: null,
      code: 'model_not_found',
    }),
    'model_missing',
  ],
  [
    'OpenAI, of a name',
    400,
    error({ message: 'invalid model ID', type: 'invalid_request_error', param: null, code: null }),
    'model_missing',
  ],
  [
    'OpenAI, of a model for another endpoint',
    404,
    error({
      message: 'This is not a chat model and thus not supported in the v1/chat/completions endpoint.',
      param: 'model',
      code: null,
    }),
    'model_missing',
  ],
  [
    'Azure',
    404,
    error({ code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' }),
    'model_missing',
  ],
  ['Azure, of a path', 404, error({ code: '404', message: 'Resource not found' }), 'model_missing'],
  [
    'Azure, of another model',
    400,
    error({
      code: 'OperationNotSupported',
      message: 'The chatCompletion operation does not work with the specified model, m.',
    }),
    'model_missing',
  ],
  [
    'vLLM',
    404,
    { object: 'error', message: 'The model `m` does not exist.', type: 'NotFoundError', param: null, code: 404 },
    'model_missing',
  ],
  [
    'vLLM, newer',
    404,
    error({ message: 'The model `m` does not exist.', type: 'NotFoundError', param: 'model', code: 404 }),
    'model_missing',
  ],
  [
    'SGLang',
    400,
    { object: 'error', message: 'Model m not found.', type: 'BadRequestError', code: 400 },
    'model_missing',
  ],
  [
    'Ollama',
    404,
    error({ message: 'model "m" not found, try pulling it first', type: 'api_error', param: null, code: null }),
    'model_missing',
  ],
  ['Ollama, native', 404, { error: "model 'm' not found" }, 'model_missing'],
  [
    'Groq',
    404,
    error({
      message: 'The model `m` does not exist or you do not have access to it.',
      type: 'invalid_request_error',
      code: 'model_not_found',
    }),
    'model_missing',
  ],
  [
    'Groq, of an old one',
    400,
    error({
      message: 'The model `m` has been decommissioned and is no longer supported.',
      code: 'model_decommissioned',
    }),
    'model_missing',
  ],
  ['Bedrock', 400, { message: 'The provided model identifier is invalid.' }, 'model_missing'],
  [
    'Bedrock, of an agreement',
    403,
    { message: "You don't have access to the model with the specified model ID." },
    'model_missing',
  ],
  [
    'Mistral',
    400,
    { object: 'error', message: 'Invalid model: m', type: 'invalid_model', param: null, code: '1500' },
    'model_missing',
  ],
  [
    'DeepSeek',
    400,
    error({ message: 'Model Not Exist', type: 'invalid_request_error', param: null, code: 'invalid_request_error' }),
    'model_missing',
  ],
  [
    'Moonshot',
    404,
    error({ message: 'Not found the model m or Permission denied', type: 'resource_not_found_error' }),
    'model_missing',
  ],
  [
    'xAI',
    404,
    {
      code: 'Some requested entity was not found',
      error: 'The model m does not exist or your team x does not have access to it.',
    },
    'model_missing',
  ],
  [
    'Gemini',
    404,
    [error({ code: 404, message: 'models/m is not found for API version v1main.', status: 'NOT_FOUND' })],
    'model_missing',
  ],
  ['Anthropic', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: m' } }, 'model_missing'],
  [
    'Together',
    404,
    error({
      message: 'Unable to access model m. Please visit our page.',
      type: 'invalid_request_error',
      code: 'model_not_available',
    }),
    'model_missing',
  ],
  [
    'Fireworks',
    404,
    error({
      object: 'error',
      type: 'invalid_request_error',
      code: 'NOT_FOUND',
      message: 'Model not found, inaccessible, and/or not deployed',
    }),
    'model_missing',
  ],
  ['OpenRouter', 404, error({ message: 'No endpoints found for vendor/m.', code: 404 }), 'model_missing'],
  ['OpenRouter, of a name', 400, error({ message: 'vendor/m is not a valid model ID', code: 400 }), 'model_missing'],
  ['Zhipu', 400, error({ code: '1211', message: '模型不存在' }), 'model_missing'],
  [
    'LiteLLM',
    400,
    litellm('/chat/completions: Invalid model name passed in model=m. Call `/v1/models`.', '400'),
    'model_missing',
  ],
  [
    'LiteLLM, in front of OpenAI',
    404,
    litellm('litellm.NotFoundError: NotFoundError: OpenAIException - The model `m` does not exist', '404'),
    'model_missing',
  ],
  ['FastAPI, of a path', 404, { detail: 'Not Found' }, 'model_missing'],
  ['nginx, of a path', 404, '<html><head><title>404 Not Found</title></head></html>', 'model_missing'],
  ['nobody', 404, '', 'model_missing'],
  ['a server of files', 405, '<html>Method Not Allowed</html>', 'model_missing'],
  ['Azure, of a model that was retired', 410, error({ code: 'ModelDeprecated', message: 'retired' }), 'model_missing'],
  // The credential
  ['anybody', 401, error({ message: 'Incorrect API key provided', code: 'invalid_api_key' }), 'auth_failed'],
  [
    'OpenAI, of a region',
    403,
    error({ code: 'unsupported_country_region_territory', message: 'Country not supported' }),
    'auth_failed',
  ],
  [
    'Gemini',
    400,
    [error({ code: 400, message: 'API key not valid. Please pass a valid API key.', status: 'INVALID_ARGUMENT' })],
    'auth_failed',
  ],
  ['a firewall', 403, '<html>Forbidden</html>', 'auth_failed'],
  // The account
  ['anybody', 402, '', 'quota_exhausted'],
  [
    'OpenAI',
    429,
    error({
      message: 'You exceeded your current quota.',
      type: 'insufficient_quota',
      param: null,
      code: 'insufficient_quota',
    }),
    'quota_exhausted',
  ],
  [
    'Anthropic',
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Your credit balance is too low to access the API.' },
    },
    'quota_exhausted',
  ],
  [
    'Alibaba',
    400,
    error({ code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' }),
    'quota_exhausted',
  ],
  ['one-api', 403, error({ code: 'insufficient_user_quota', message: 'no quota' }), 'quota_exhausted'],
  ['Zhipu', 429, error({ code: '1113', message: 'no credit' }), 'quota_exhausted'],
  // The client
  [
    'a limit of requests',
    429,
    error({ message: 'Rate limit reached for model m', type: 'requests', code: 'rate_limit_exceeded' }),
    null,
  ],
  [
    'Gemini, of a limit per minute',
    429,
    [error({ code: 429, message: 'You exceeded your current quota.', status: 'RESOURCE_EXHAUSTED' })],
    null,
  ],
  ['a field', 400, error({ message: 'top_p is too large', param: 'top_p', code: 'invalid_value' }), null],
  [
    'a field that the client made up',
    400,
    error({ message: 'Unknown parameter: "the model x does not exist"', param: 'the model x does not exist' }),
    null,
  ],
  [
    'a text of the client',
    400,
    {
      detail: [
        {
          type: 'x',
          loc: ['body', 'user'],
          msg: 'no',
          input: { code: 'model_not_found', error: { code: 'insufficient_quota' } },
        },
      ],
    },
    null,
  ],
  ['a quotation of the client', 400, error({ message: 'Bad value "code": "model_not_found"', code: null }), null],
  ['OpenRouter, of pictures', 404, error({ message: 'No endpoints found that support image input', code: 404 }), null],
  [
    'a file',
    404,
    error({ message: 'No such File object: file-1', type: 'invalid_request_error', param: 'file_id', code: null }),
    null,
  ],
  [
    'OpenRouter, of safety',
    403,
    error({ code: 403, message: 'm requires moderation. Your input was flagged for "x".' }),
    null,
  ],
  [
    'xAI, of safety',
    403,
    { code: 'The caller does not have permission', error: 'Content violates usage guidelines. Team: t' },
    null,
  ],
  ['Azure, of safety', 400, error({ message: 'filtered', code: 'content_filter', param: 'prompt' }), null],
  ['a broken server', 500, error({ message: 'The model `m` does not exist', code: 'model_not_found' }), null],
  ['an answer', 200, { choices: [], error: { code: 'model_not_found' } }, null],
];
