/** The answers of servers to a prompt that is too long, with the tokens and the limit that they name. */
type TooLong = readonly [server: string, status: number, body: unknown, tokens?: number, limit?: number];
export const tooLong: readonly TooLong[] = [
  [
    'LiteLLM, in front of OpenAI',
    400,
    {
      error: {
        message:
          "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - This model's maximum context length is 128000 tokens. However, your messages resulted in 130112 tokens.",
        type: null,
        param: null,
        code: '400',
      },
    },
    130112,
    128000,
  ],
  [
    'LiteLLM, in front of others',
    400,
    {
      error: {
        message: 'litellm.ContextWindowExceededError: too much text for this model.',
        type: null,
        param: null,
        code: '400',
      },
    },
  ],
  ['Zhipu', 400, { error: { code: '1261', message: 'Prompt is too long.' } }],
  [
    'Moonshot',
    400,
    {
      error: {
        message: 'Invalid request: Your request exceeded model token limit: 8192',
        type: 'invalid_request_error',
      },
    },
  ],
  ['Ollama', 400, { error: { message: 'the input length exceeds the context length', type: 'invalid_request_error' } }],
  [
    'OpenAI, of a prompt and what it reads',
    400,
    {
      error: {
        message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
  ],
  [
    'OpenAI and Azure',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 16385 tokens. However, your messages resulted in 20010 tokens. Please reduce the length of the messages.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
    20010,
    16385,
  ],
  [
    'OpenAI, newer models',
    400,
    {
      error: {
        message: 'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300012 tokens.',
        code: 'context_length_exceeded',
      },
    },
    300012,
    272000,
  ],
  [
    'OpenAI, text completions',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 4097 tokens, however you requested 6539 tokens (6283 in your prompt; 256 for the completion). Please reduce your prompt; or completion length.",
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    },
    6283,
    4097,
  ],
  [
    'OpenAI, embeddings',
    400,
    { error: { message: "Invalid 'input': maximum input length is 8192 tokens.", code: null } },
  ],
  [
    'Groq',
    400,
    {
      error: { message: 'Please reduce the length of the messages or completion.', code: 'context_length_exceeded' },
    },
  ],
  [
    'vLLM',
    400,
    {
      object: 'error',
      message:
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    112946,
    16384,
  ],
  [
    'vLLM, newer',
    400,
    {
      error: {
        message:
          "You passed 5001 input tokens and requested 0 output tokens. However, the model's context length is only 4096, resulting in a maximum input length of 4096.",
        type: 'BadRequestError',
        param: 'input_text',
        code: 400,
      },
    },
    5001,
    4096,
  ],
  [
    'vLLM, with images',
    400,
    {
      error: {
        message: 'The decoder prompt (length 25938) is longer than the maximum model length of 4096. Make sure …',
      },
    },
    25938,
    4096,
  ],
  [
    'SGLang',
    400,
    {
      object: 'error',
      message: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    61709,
    40960,
  ],
  [
    'TGI',
    422,
    {
      error: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 1168',
      error_type: 'validation',
    },
    1168,
    1024,
  ],
  [
    'TEI',
    413,
    {
      error: 'Input validation error: `inputs` must have less than 512 tokens. Given: 600',
      error_type: 'Validation',
    },
    600,
    512,
  ],
  [
    'Together',
    422,
    {
      error: {
        message:
          'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`',
        type: 'invalid_request_error',
        param: 'max_tokens',
      },
    },
    9000,
    8193,
  ],
  [
    'llama.cpp',
    400,
    {
      error: {
        code: 400,
        message:
          'the request exceeds the available context size. try increasing the context size or enable context shift',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 14429,
        n_ctx: 8192,
      },
    },
    14429,
    8192,
  ],
  [
    'llama.cpp, by 500',
    500,
    {
      error: {
        code: 500,
        message: 'the request exceeds the available context size',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 1407,
        n_ctx: 256,
      },
    },
    1407,
    256,
  ],
  [
    'Mistral',
    400,
    {
      object: 'error',
      message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_error',
      param: null,
      code: '3051',
    },
    40000,
    32768,
  ],
  [
    'Anthropic',
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 208656 tokens > 200000 maximum' },
    },
    208656,
    200000,
  ],
  [
    'Gemini',
    400,
    [
      {
        error: {
          code: 400,
          message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    1200000,
    1048575,
  ],
  [
    'xAI',
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    },
    150000,
    131072,
  ],
  [
    'Fireworks',
    400,
    {
      error: {
        object: 'error',
        type: 'invalid_request_error',
        message: 'The prompt is too long: 200000, model maximum context length: 131072',
      },
    },
    200000,
    131072,
  ],
  [
    'Cohere',
    400,
    {
      message:
        'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try using a shorter prompt',
    },
    5000,
    4081,
  ],
  [
    'TensorRT-LLM',
    400,
    {
      object: 'error',
      message: 'Prompt length (5000) exceeds maximum input length (4096).',
      type: 'BadRequestError',
    },
    5000,
    4096,
  ],
  [
    'Cerebras',
    400,
    {
      message: 'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
      code: 'context_length_exceeded',
    },
    9000,
    8192,
  ],
  [
    'DashScope',
    400,
    { error: { message: 'Range of input length should be [1, 129024]', code: 'invalid_parameter_error' } },
  ],
  ['Bedrock', 400, { message: 'Input is too long for requested model.' }],
  [
    'DeepInfra',
    400,
    { error: { message: 'Requested input length 40000 exceeds maximum input length 32767' } },
    40000,
    32767,
  ],
  [
    'Poolside',
    400,
    { error: { message: 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.' } },
    131393,
    131040,
  ],
  [
    'a server with counts in brackets',
    400,
    { error: { message: "Input length (265330) exceeds model's maximum context length (262144)." } },
    265330,
    262144,
  ],
  [
    'Volcengine',
    400,
    { error: { message: 'Input length 40000 exceeds the maximum length 32768', code: 'InvalidParameter' } },
    40000,
    32768,
  ],
  [
    'Volcengine, with pictures',
    400,
    { error: { message: 'Total tokens of image and text exceed max message tokens.', code: 'InvalidParameter' } },
  ],
  [
    'Vertex AI',
    400,
    [
      {
        error: {
          code: 400,
          message:
            'Unable to submit request because the input token count is 40000 but model only supports up to 32768.',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    40000,
    32768,
  ],
  [
    'Copilot',
    400,
    {
      error: {
        message: 'prompt token count of 70000 exceeds the limit of 64000',
        code: 'model_max_prompt_tokens_exceeded',
      },
    },
    70000,
    64000,
  ],
  [
    'SiliconFlow',
    400,
    { code: 20015, message: 'length of prompt_tokens (40000) must be less than max_seq_len (32768).', data: null },
    40000,
    32768,
  ],
  [
    'SambaNova',
    400,
    { error: { message: 'The maximum context length of m is 8192. However, your input has 9000 tokens.' } },
  ],
  [
    'vLLM, of a prompt alone',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
        type: 'BadRequestError',
        param: 'input_tokens',
        code: 400,
      },
    },
    262145,
    262144,
  ],
  [
    'MLC',
    400,
    { error: { message: 'Request prompt has 5000 tokens in total, larger than the model input length limit 4096.' } },
  ],
  [
    'Atlas',
    400,
    { error: { message: 'Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)' } },
  ],
  ['a server that names no count', 400, { error: { message: 'tokens in request more than max tokens allowed' } }],
  ['MiniMax', 400, { error: { message: 'invalid params, context window exceeds limit', type: 'bad_request_error' } }],
  ['Zhipu, in words alone', 400, { error: { message: 'Prompt exceeds max length' } }],
  [
    'GitHub',
    413,
    { error: { message: 'Request body too large for m model. Max size: 8000 tokens.', code: 'tokens_limit_reached' } },
  ],
  [
    'Bedrock, newer models',
    400,
    {
      message:
        'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
    },
  ],
  [
    'Bedrock, embeddings',
    400,
    { message: '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9000' },
    9000,
    8192,
  ],
  ['Baidu', 400, { error: { message: 'the max input characters is 20000', type: 'invalid_request_error' } }],
  ['Groq, in words alone', 400, { error: { message: 'Please reduce the length of the messages or completion.' } }],
  ['AI21', 422, { detail: 'Prompt has too many tokens' }],
];
