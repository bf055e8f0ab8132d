import type { ParsedRequest } from './port/parsed-request.ts';

/** The sequences that the tokens of a call are of, where there are several; each has a context of its own. */
export const sequencesOf = ({ candidates, prompts }: Pick<ParsedRequest, 'candidates' | 'prompts'>) => ({
  ...(prompts > 1 && { prompts }),
  ...(candidates > 1 && { answers: candidates }),
});
