/** Makes the inputs of a choice of region: the caller, the parsed request and the steering. */
import { anyTolerance } from '@gw/contract/access';
import type { ParsedRequest } from '@gw/receipt-sidecar/internals/api/port/parsed-request';
import type { Caller } from '@gw/receipt-sidecar/internals/guards/caller';
import type { CountedCall } from '@gw/receipt-sidecar/internals/receipt/counted-call';
import type { Steering } from '@gw/receipt-sidecar/internals/routing/choose-region';

export const caller = (more: Partial<Caller> = {}): Caller => ({
  accountId: 'acct',
  keyId: 'key',
  models: null,
  project: null,
  streams: { limit: 25, shadow: false },
  keyStreams: null,
  tolerance: anyTolerance,
  usageImpacts: false,
  budgets: [],
  tokens: null,
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
  parts: null,
  prompts: 1,
  candidates: 1,
  echoes: false,
  outputField: null,
  maxTokens: null,
  asksToRead: false,
  affinity: null,
  ...more,
});

/** A call that came to its end in a second, of a model of which the catalogue says nothing. */
export const countedForTests = (request: ParsedRequest, more: Partial<CountedCall> = {}): CountedCall => ({
  request,
  contextWindow: null,
  hidesReasoning: null,
  readsByItself: null,
  elapsedS: 1,
  isWhole: true,
  isCutShort: false,
  powerOf: () => null,
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
