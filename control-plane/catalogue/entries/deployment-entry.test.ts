import { telemetryShapes } from '@gw/contract/internal/catalogue/deployment-fields';
import type { TelemetrySource } from '@gw/methodology/telemetry/reading';
import { servesTelemetry } from '@gw/methodology/tier';
import { expect, expectTypeOf, test } from 'vitest';

test('every shape of energy can be configured, and all but the estimate measure', () => {
  expectTypeOf<(typeof telemetryShapes)[number]>().toEqualTypeOf<TelemetrySource>();
  for (const shape of telemetryShapes)
    expect(servesTelemetry(shape, 'comprehensive')).toBe(shape !== 'ecologits_impacts');
});
