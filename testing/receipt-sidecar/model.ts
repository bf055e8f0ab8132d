/** A model of the catalogue whose parameters are known. */
import type { SnapshotModel } from '@gw/contract/internal/snapshot';

export const plainModel: SnapshotModel = {
  id: 'm',
  created: 0,
  ownedBy: 'p',
  kind: 'chat',
  contextWindow: null,
  modalities: ['text'],
  takesTemperature: true,
  activeParametersB: { min: 8, max: 8 },
  totalParametersB: { min: 8, max: 8 },
  modelClass: null,
  quantizationBits: null,
  tokensPerS: null,
  ttftS: null,
};
