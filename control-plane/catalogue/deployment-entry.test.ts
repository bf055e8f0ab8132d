import { telemetryShapes } from '@gw/contract/internal/catalogue/deployment-fields';
import type { TelemetrySource } from '@gw/methodology/telemetry/reading';
import { servesTelemetry } from '@gw/methodology/tier';
import { expect, expectTypeOf, test } from 'vitest';

test('every shape of measured energy can be configured', () => {
  expectTypeOf<(typeof telemetryShapes)[number]>().toEqualTypeOf<TelemetrySource>();
  for (const shape of telemetryShapes) expect(servesTelemetry(shape, 'comprehensive')).toBe(true);
});
