const grouped = (count: number): string => count.toLocaleString('en-US');

/**
 * Words the refusal. Clients know it by its words, since they do not know the code: "prompt is too long" (LiteLLM, which then calls a
 * model with a larger window, and LangChain) and "exceeds the context window" (LangChain for JavaScript). `isWhole` is false if the
 * prompt has at least so many tokens, and perhaps more.
 */
export const tooManyTokens = (
  which: string,
  model: string,
  { isWhole = true, limit, tokens }: { readonly tokens: number; readonly limit: number; readonly isWhole?: boolean },
): string =>
  `The prompt is too long: ${which} has ${isWhole ? '' : 'at least '}${grouped(tokens)} tokens, which exceeds the context window of ${model} (${grouped(limit)}).`;
