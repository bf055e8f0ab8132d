/**
 * The words of providers that refuse a request because of its content, in lower case. Envoy needs them as well as the sidecar: such a
 * refusal can be a 403, which otherwise means that the provider refuses the credential.
 */

/** Values of `code`, `type`, `status` or `error`. */
export const safetyCodes: readonly string[] = [
  // Azure, Moonshot, OpenAI, LiteLLM
  'content_filter',
  'responsibleaipolicyviolation',
  'content_policy_violation',
  'contentpolicyviolationerror',
  'moderation_blocked',
  // Alibaba
  'data_inspection_failed',
  'datainspectionfailed',
  // Volcengine
  'sensitivecontentdetected',
  'inputtextsensitivecontentdetected',
  'inputimagesensitivecontentdetected',
  'outputtextsensitivecontentdetected',
  // StepFun, Zhipu, MiniMax
  'censorship_blocked',
  '1301',
  '1026',
  '1027',
  // new-api
  'sensitive_words_detected',
  'prompt_blocked',
  // Gemini, Bedrock
  'prohibited_content',
  'guardrail_intervened',
];

/** Parts of a message. Each is too particular to stand in a refusal of another kind. */
export const safetyPhrases: readonly string[] = [
  // Azure, which writes its name in front of it with either apostrophe, or not at all
  'content management policy',
  // Baidu
  'contains sensitive words',
  // OpenAI
  'rejected by the safety system',
  'rejected as a result of our safety system',
  'rejected by our safety system',
  'flagged as potentially violating our usage policy',
  // LiteLLM and other proxies
  'contentpolicyviolationerror',
  'violated guardrail policy',
  'violated content safety policy',
  // Anthropic
  'blocked by content filtering policy',
  // Bedrock
  'blocked by our content filters',
  'guardrail_intervened',
  // OpenRouter
  'your input was flagged for',
  // xAI
  'content violates usage guidelines',
  // DeepSeek
  'content exists risk',
  // Moonshot
  'rejected because it was considered high risk',
  // Alibaba
  'may contain inappropriate content',
  // StepFun
  'content you provided or machine outputted is blocked',
  // Gemini
  'prohibited_content',
  'blocked due to safety',
  // Vertex AI
  "violate google's responsible ai practices",
  // Cloudflare
  'prompt blocked due to security configurations',
];
