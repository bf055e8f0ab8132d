/** What a client may ask of the gateway itself: `gw` in the body, or `extra_body.gw`. */
import { z } from 'zod';
import { boundaries, requestedTiers } from './receipt.ts';

export const gwOptionsSchema = z
  .strictObject({
    tier: z.enum(requestedTiers).optional().describe('Default `auto`: the best tier that the route can serve'),
    boundary: z.enum(boundaries).optional().describe('Default `comprehensive`'),
    region: z.string().optional().describe('Pins the request to a region of GET /v1/regions'),
  })
  .meta({ id: 'GwOptions' });

export type GwOptions = z.infer<typeof gwOptionsSchema>;

/** The two places where options arrive; every inference request carries them. */
export const gatewayFields = {
  gw: gwOptionsSchema.nullish(),
  extra_body: z.looseObject({ gw: gwOptionsSchema.nullish() }).nullish(),
};
