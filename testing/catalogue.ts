/** Entries of the catalogue with every field, for tests to change the few that they are about. */
import type { Snapshot, SnapshotDeployment, SnapshotModel } from '@gw/contract/internal/snapshot';

/** A model whose parameters are known. */
export const plainModel: SnapshotModel = {
  id: 'm',
  created: 0,
  ownedBy: 'p',
  kind: 'chat',
  contextWindow: null,
  modalities: ['text'],
  takesTemperature: true,
  tokenizer: null,
  activeParametersB: { min: 8, max: 8 },
  totalParametersB: { min: 8, max: 8 },
  parametersSource: null,
  modelClass: null,
  quantizationBits: null,
  tokensPerS: null,
  ttftS: null,
  hiddenReasoning: null,
  readsByItself: null,
};

export const plainDeployment: SnapshotDeployment = {
  id: 'd',
  provider: 'p',
  region: 'us',
  models: { m: 'm' },
  pue: 1.1,
  pueEvidence: null,
  wueOnsiteLPerKwh: null,
  wueEvidence: null,
  telemetry: null,
  accelerators: null,
  typicalConcurrency: null,
  latencyMs: null,
  relativeCost: null,
  weight: 1,
  maxConcurrentRequests: null,
};

export const emptySnapshot: Snapshot = {
  version: 1,
  publishedAt: '2026-01-01T00:00:00.000Z',
  models: [],
  regions: [],
  deployments: [],
  aliases: [],
  prices: [],
  grid: [],
  gridFloor: [],
  operationalGrid: [],
};
