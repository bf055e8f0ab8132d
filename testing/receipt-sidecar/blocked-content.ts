/** The replies of servers to a request that a safety filter blocks. */
type Blocked = readonly [server: string, status: number, body: object];
export const blockedContent: readonly Blocked[] = [
  [
    'Azure',
    400,
    {
      error: {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: {
          code: 'ResponsibleAIPolicyViolation',
          content_filter_result: { violence: { filtered: true, severity: 'high' } },
        },
      },
    },
  ],
  [
    'OpenAI',
    400,
    {
      error: {
        message: 'Your request was rejected by the safety system.',
        type: 'invalid_request_error',
        param: null,
        code: 'content_policy_violation',
      },
    },
  ],
  [
    'OpenAI, reasoning models',
    400,
    {
      error: {
        message: 'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_prompt',
      },
    },
  ],
  [
    'Anthropic',
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' } },
  ],
  ['Gemini', 400, [{ error: { code: 400, message: 'The prompt is PROHIBITED_CONTENT.', status: 'INVALID_ARGUMENT' } }]],
  [
    'Gemini, without choices',
    200,
    { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } },
  ],
  ['Bedrock', 400, { message: 'This request has been blocked by our content filters.' }],
  ['Bedrock guardrails', 400, { error: { message: 'Blocked.', type: 'guardrail_intervened' } }],
  [
    'Alibaba',
    400,
    {
      error: {
        code: 'data_inspection_failed',
        message: 'Input data may contain inappropriate content.',
        type: 'data_inspection_failed',
      },
    },
  ],
  ['Zhipu', 400, { contentFilter: [{ level: 1, role: 'user' }], error: { code: '1301', message: '敏感内容' } }],
  ['Zhipu, by a number', 400, { error: { code: 1301, message: '敏感内容' } }],
  ['MiniMax', 200, { id: 'c', choices: null, base_resp: { status_code: 1026, status_msg: 'input new_sensitive' } }],
  ['a proxy, as the error itself', 400, { error: 'content_filter', message: 'Blocked.' }],
  [
    'DeepSeek',
    400,
    { error: { message: 'Content Exists Risk', type: 'invalid_request_error', code: 'invalid_request_error' } },
  ],
  [
    'Moonshot',
    400,
    { error: { message: 'The request was rejected because it was considered high risk', type: 'content_filter' } },
  ],
  [
    'Volcengine',
    400,
    {
      error: {
        code: 'InputTextSensitiveContentDetected',
        message: 'It may contain sensitive information.',
        type: 'BadRequest',
      },
    },
  ],
  [
    'LiteLLM',
    400,
    {
      error: {
        message: 'litellm.ContentPolicyViolationError: AzureException - no',
        type: null,
        param: null,
        code: '400',
      },
    },
  ],
  [
    'StepFun',
    451,
    { error: { message: 'The content you provided or machine outputted is blocked.', type: 'censorship_blocked' } },
  ],
  [
    'OpenRouter',
    403,
    {
      error: {
        code: 403,
        message: 'vendor/m requires moderation on a host. Your input was flagged for "violence".',
        metadata: {},
      },
    },
  ],
  [
    'xAI',
    403,
    {
      code: 'The caller does not have permission to execute the specified operation',
      error: 'Content violates usage guidelines. Team: t, API key ID: k, Failed check: SAFETY_CHECK_TYPE_BIO',
    },
  ],
  [
    'Azure, by its inner reason',
    400,
    { error: { message: 'No.', code: '400', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
  ],
  [
    'Vertex AI',
    400,
    {
      error: {
        code: 400,
        message: "The prompt could not be submitted. It contains words that violate Google's Responsible AI practices.",
        status: 'INVALID_ARGUMENT',
      },
    },
  ],
  [
    'new-api',
    400,
    { error: { message: 'user sensitive words detected', type: 'new_api_error', code: 'sensitive_words_detected' } },
  ],
  [
    'Azure, behind LiteLLM, with a curly apostrophe',
    400,
    {
      error: {
        message:
          'litellm.BadRequestError: AzureException - The response was filtered due to the prompt triggering Azure OpenAI’s content management policy.',
        type: null,
        param: null,
        code: '400',
      },
    },
  ],
  ['Baidu', 400, { error: { code: 'invalid_argument', message: 'the content of message contains sensitive words' } }],
];
