/** Options for the gateway itself, which a client sends as `gw` in the body or as `extra_body.gw`. */
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
      .describe('How much slower a region may be than the preferred one, to be chosen for its carbon intensity'),
    max_added_cost_percent: toleranceSchema
      .nullish()
      .describe('How much dearer a region may be than the preferred one, to be chosen for its carbon intensity'),
    max_carbon_g: z
      .number()
      .positive()
      .max(1_000_000)
      .nullish()
      .describe(
        'The call goes only where its carbon is estimated at no more grams of CO2e, with an answer of `max_tokens` or else of 400 tokens. It is an estimate: the receipt can come out higher',
      ),
  })
  .meta({ id: 'GwOptions' });

type Given = z.infer<typeof gwOptionsSchema>;
/** The options without those that are null, which count as absent. */
export type GwOptions = { readonly [name in keyof Given]?: NonNullable<Given[name]> };

/** The two places where options arrive; every inference request carries them. */
export const gatewayFields = {
  gw: gwOptionsSchema.nullish(),
  extra_body: z.looseObject({ gw: gwOptionsSchema.nullish() }).nullish(),
};
