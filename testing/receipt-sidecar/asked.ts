/** Makes the inputs of a choice of region: the caller, the parsed request and the steering. */
import { anyTolerance } from '@gw/contract/access';
import type { ParsedRequest } from '@gw/receipt-sidecar/internals/api/port/parsed-request';
import type { Caller } from '@gw/receipt-sidecar/internals/guards/caller';
import type { Steering } from '@gw/receipt-sidecar/internals/routing/choose-region';

export const caller = (more: Partial<Caller> = {}): Caller => ({
  accountId: 'acct',
  keyId: 'key',
  models: null,
  project: null,
  streams: { limit: 25, shadow: false },
  keyStreams: null,
  tolerance: anyTolerance,
  budgets: [],
  leased: null,
  ...more,
});

/** A short call to the model `m`. */
export const parsedForTests = (more: Partial<ParsedRequest> = {}): ParsedRequest => ({
  endpoint: 'chat',
  model: 'm',
  options: {},
  stream: false,
  wantsUsage: false,
  answers: 1,
  promptBytes: 2,
  estimatedPromptTokens: 0,
  promptTextBytes: 0,
  mostPromptTokens: null,
  prompts: 1,
  candidates: 1,
  echoes: false,
  outputField: null,
  maxTokens: null,
  ...more,
});

/** `at`: RFC 3339. Nothing fails, and everything is tolerated. */
export const steeringForTests = (at: string, more: Partial<Steering> = {}): Steering => ({
  at: Date.parse(at),
  tolerance: anyTolerance,
  isResting: () => false,
  troubleOf: () => null,
  ...more,
});
