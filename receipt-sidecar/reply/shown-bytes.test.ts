import { expect, test } from 'vitest';
import { withShown } from './shown-bytes.ts';

const made = { gw: '{"id":"r"}', usageGw: '{"receipt_id":"r","energy_wh":1}' };
const shown = { gw: '{"id":"r","tier":"degraded"}', usageGw: '{"receipt_id":"r","energy_wh":null}' };

test('a receipt that could not be stored takes its numbers in the usage along, the mirrored ones too', () => {
  const impacts = '{"kWh":0.001}';
  const event = `data: {"usage":{"n":1,"gw":${made.usageGw},"impacts":${impacts}},"gw":${made.gw}}\n\n`;
  const bytes = withShown(
    Buffer.from(event),
    { ...made, usageImpacts: impacts },
    { ...shown, usageImpacts: null },
  ).toString();
  expect(bytes).toBe(`data: {"usage":{"n":1,"gw":${shown.usageGw}},"gw":${shown.gw}}\n\n`);
});

test('without a mirror only what was written changes', () => {
  const said = '"impacts":{"kWh":2}';
  const event = `data: {"usage":{${said},"gw":${made.usageGw}},"gw":${made.gw}}\n\n`;
  const bytes = withShown(Buffer.from(event), made, shown).toString();
  expect(bytes).toBe(`data: {"usage":{${said},"gw":${shown.usageGw}},"gw":${shown.gw}}\n\n`);
});
