/** Options for the gateway itself, which clients send as `gw` in the body or as `extra_body.gw`. */
import { z } from 'zod';
import { boundaries, requestedTiers } from './receipt.ts';

/** Milliseconds, or percent. */
export const toleranceSchema = z.int().min(0).max(1_000_000);

export const gwOptionsSchema = z
  .strictObject({
    tier: z.enum(requestedTiers).nullish().describe('Default `auto`: the best tier that the route can serve'),
    boundary: z.enum(boundaries).nullish().describe('Default `comprehensive`'),
    region: z.string().nullish().describe('Pins the request to a region of GET /v1/regions'),
    max_added_latency_ms: toleranceSchema
      .nullish()
      .describe('How much slower than the preferred region a cleaner one may be, in milliseconds'),
    max_added_cost_percent: toleranceSchema
      .nullish()
      .describe('How much more expensive than the preferred region a cleaner one may be, in percent'),
    max_carbon_g: z
      .number()
      .positive()
      .max(1_000_000)
      .nullish()
      .describe(
        'The call goes only to regions where its estimate is at most this many grams of CO2e. Where the longest answer would be above it, the provider is sent a lower limit of the length, as `routing_trace.answer_bound` tells. The receipt can be higher than the estimate, but not by a longer answer',
      ),
  })
  .meta({ id: 'GwOptions' });

type Given = z.infer<typeof gwOptionsSchema>;
/** The options; null counts as absent. */
export type GwOptions = { readonly [name in keyof Given]?: NonNullable<Given[name]> };

/** The two places for options in every inference request. */
export const gatewayFields = {
  gw: gwOptionsSchema.nullish(),
  extra_body: z.looseObject({ gw: gwOptionsSchema.nullish() }).nullish(),
};
