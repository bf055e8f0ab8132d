/**
 * Electricity Maps v3: the average carbon intensity of a zone, by hour. Not yet tried against the live service.
 *
 * Invariant: a value is dated by `datetime`, the hour that it is for, never by `updatedAt`, which is fresh even when
 * the value is days old. If no zone is recognised the service answers for the place that the caller's address points
 * to; that is switched off in the request, and the zone in the reply is compared all the same.
 */
import { hourMs, minuteMs } from '@gw/contract/internal/durations';
import { z } from 'zod';
import { get, type Http } from './http.ts';
import {
  type GridAdapter,
  type GridReply,
  isRefusal,
  observations,
  parseReply,
  type Statement,
  timeText,
  type ZonePlace,
} from './reading.ts';

const source = 'electricity-maps';
const askedBasis = 'lifecycle';

/** The length of a period in ms, by the name that the service gives it. */
const granularities: ReadonlyMap<string, number> = new Map([
  ['5_minutes', 5 * minuteMs],
  ['15_minutes', 15 * minuteMs],
  ['hourly', hourMs],
]);

const valueSchema = z.object({
  zone: z.string(),
  carbonIntensity: z.number().nullable(),
  datetime: timeText,
  emissionFactorType: z.string().nullish(),
  isEstimated: z.boolean().nullish(),
  temporalGranularity: z.string().nullish(),
});
const replySchema = z.union([valueSchema, z.object({ zone: z.string(), history: z.array(valueSchema) })]);

export interface ElectricityMapsSettings {
  readonly baseUrl: string;
  readonly key: string;
}

export function electricityMaps(http: Http, { baseUrl, key }: ElectricityMapsSettings): GridAdapter {
  return {
    read: async (asked, span) => {
      const query = new URLSearchParams({
        zone: asked.place,
        emissionFactorType: askedBasis,
        shouldUseFallbackCallerLookup: 'false',
      });
      const path = span === 'latest' ? 'latest' : 'history';
      const reply = await get(http, `${baseUrl}/v3/carbon-intensity/${path}?${query}`, { 'auth-token': key });
      return isRefusal(reply) ? reply : parseElectricityMaps(reply.body, asked, reply.fetchedAt);
    },
  };
}

/** Reads a reply to `latest` or to `history`. Values are in gCO2e/kWh. */
export function parseElectricityMaps(raw: string, asked: ZonePlace, fetchedAt: Date): GridReply {
  const parsed = parseReply(replySchema, raw);
  if (isRefusal(parsed)) return parsed;
  const { value } = parsed;
  const values = 'history' in value ? value.history : [value];
  if ([value, ...values].some((each) => each.zone !== asked.place))
    return { refused: 'wrong_zone', detail: 'the reply is for another zone' };
  // Life cycle was asked for. Without a word about it the basis is unknown, and the receipts say so.
  if (values.some(({ emissionFactorType: basis }) => (basis ?? askedBasis) !== askedBasis))
    return { refused: 'wrong_basis', detail: `the reply does not count the ${askedBasis}` };
  // Such as a day, or a month: no hour of it is known.
  if (values.some((each) => granularityOf(each) === undefined))
    return { refused: 'wrong_period', detail: 'an unknown granularity' };
  return observations({ source, asked, fetchedAt, raw }, values.map(statementOf));
}

const granularityOf = ({ temporalGranularity: name }: z.infer<typeof valueSchema>): number | undefined =>
  granularities.get(name ?? 'hourly');

function statementOf(value: z.infer<typeof valueSchema>): Statement {
  const { datetime, emissionFactorType: basis } = value;
  return {
    gPerKwh: value.carbonIntensity,
    start: datetime,
    end: datetime + (granularityOf(value) ?? Number.NaN),
    observed: datetime,
    kind: 'average',
    isForecast: false,
    basis: basis === askedBasis ? basis : 'unknown',
    // Only the word of the source makes it measured.
    isEstimated: value.isEstimated !== false,
  };
}
