import { servesTelemetry } from '@gw/methodology/tier';
import { expect, test } from 'vitest';
import { telemetryShapes } from './deployment-entry.ts';

test('every shape of measured energy can be configured', () => {
  for (const shape of telemetryShapes) expect(servesTelemetry(shape, 'comprehensive')).toBe(true);
});
