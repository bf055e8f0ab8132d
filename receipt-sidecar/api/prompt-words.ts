const grouped = (count: number): string => count.toLocaleString('en-US');

/** Words the refusal. `isWhole` is false if the prompt has at least so many tokens, and perhaps more. */
export const tooManyTokens = (
  which: string,
  model: string,
  { isWhole = true, limit, tokens }: { readonly tokens: number; readonly limit: number; readonly isWhole?: boolean },
): string => `${which} has ${isWhole ? '' : 'at least '}${grouped(tokens)} tokens; ${model} takes ${grouped(limit)}.`;
