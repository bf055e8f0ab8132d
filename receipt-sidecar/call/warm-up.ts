/**
 * Has what every call meets compiled and filled before the first one comes: it would hold up the others for tens of
 * milliseconds.
 */

import { findRulesAtOnce } from '@gw/policy/find-rules';
import { foldedPoint } from '@gw/policy/fold';
import { readParsed } from '../admission/read.ts';
import { parseRequest } from '../api/parse.ts';
import { shapes } from '../api/shapes.ts';
import { policyInForce } from '../catalogue/policy.ts';

const rounds = 40;
/** How many code points are folded beforehand. */
const points = 0x10000;

export function warmUp(): void {
  for (let point = 0; point < points; point++) foldedPoint(point);
  const context = {
    models: new Map(),
    rules: policyInForce(undefined).compiled,
    allowed: null,
    exempt: [],
    salt: () => new Uint8Array(16),
  };
  const tools = { find: findRulesAtOnce, vocabulary: null, clock: () => performance.now(), onFault: () => undefined };
  for (let round = 0; round < rounds; round++)
    // At once, with these tools.
    for (const { name, request } of shapes)
      for (const fields of request.samples)
        void readParsed(parseRequest(name, Buffer.from(JSON.stringify({ model: 'm', ...fields }))), context, tools);
}
