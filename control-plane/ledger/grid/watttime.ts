/**
 * WattTime v3: the marginal intensity of a balancing area, every five minutes. Not yet tried against the live service.
 *
 * Invariant: it is a signal for routing. It is CO2 only and marginal, so it never becomes the carbon of a receipt, and
 * a number without the unit `lbs_co2_per_mwh` is refused: the service's other series are percentiles and damages.
 */
import { hourMs, minuteMs } from '@gw/contract/internal/durations';
import { z } from 'zod';
import { get, type Http } from './http.ts';
import {
  type GridAdapter,
  type GridRefusal,
  type GridReply,
  isRefusal,
  observations,
  parseReply,
  timeText,
  type ZonePlace,
} from './reading.ts';

const source = 'watttime';
const signalType = 'co2_moer';
/** g/kWh in 1 lb/MWh: 453.59237 g in a pound, 1000 kWh in a MWh. */
const gPerKwhInLbPerMwh = 0.453_592_37;
/** How long a token is used: those of the service are valid for 30 minutes. */
const tokenMs = 25 * minuteMs;

const seconds = z.number().positive().nullish();
const replySchema = z.object({
  data: z.array(z.object({ point_time: timeText, value: z.number().nullable() })),
  meta: z.object({
    region: z.string(),
    signal_type: z.string(),
    units: z.string(),
    // Both spellings are in use.
    data_point_period_seconds: seconds,
    data_point_periods_second: seconds,
  }),
});
const loginSchema = z.object({ token: z.string().regex(/^[\x21-\x7e]+$/) });

export interface WattTimeSettings {
  readonly baseUrl: string;
  readonly user: string;
  readonly password: string;
}

/** Makes the adapter, which logs in when it first needs a token and keeps that for 25 minutes. */
export function wattTime(http: Http, { baseUrl, user, password }: WattTimeSettings): GridAdapter {
  let held: { readonly token: string; readonly until: number } | null = null;

  const token = async (): Promise<{ readonly token: string } | GridRefusal> => {
    if (held !== null && http.now().getTime() < held.until) return held;
    const basic = Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
    const reply = await get(http, `${baseUrl}/login`, { authorization: `Basic ${basic}` });
    if (isRefusal(reply)) return reply;
    const parsed = parseReply(loginSchema, reply.body);
    if (isRefusal(parsed)) return parsed;
    held = { token: parsed.value.token, until: http.now().getTime() + tokenMs };
    return held;
  };

  return {
    read: async (asked, span) => {
      const login = await token();
      if (isRefusal(login)) return login;
      const now = http.now().getTime();
      const query = new URLSearchParams({
        region: asked.place,
        signal_type: signalType,
        start: new Date(now - (span === 'latest' ? 2 : 24) * hourMs).toISOString(),
        end: new Date(now).toISOString(),
      });
      const headers = { authorization: `Bearer ${login.token}` };
      const reply = await get(http, `${baseUrl}/v3/historical?${query}`, headers);
      if (!isRefusal(reply)) return parseWattTime(reply.body, asked, reply.fetchedAt);
      // The token may have been withdrawn; the next try logs in again.
      if (reply.refused === 'unauthorized') held = null;
      return reply;
    },
  };
}

/** Reads marginal values, and turns lb/MWh into gCO2/kWh. Periods last 5 minutes unless the reply says otherwise. */
export function parseWattTime(raw: string, asked: ZonePlace, fetchedAt: Date): GridReply {
  const parsed = parseReply(replySchema, raw);
  if (isRefusal(parsed)) return parsed;
  const { data, meta } = parsed.value;
  if (meta.region !== asked.place) return { refused: 'wrong_zone', detail: 'the reply is for another region' };
  if (meta.units !== 'lbs_co2_per_mwh') return { refused: 'wrong_units', detail: 'not in lbs_co2_per_mwh' };
  if (meta.signal_type !== signalType) return { refused: 'wrong_signal', detail: `not ${signalType}` };
  const periodMs = (meta.data_point_period_seconds ?? meta.data_point_periods_second ?? 300) * 1000;
  return observations(
    { source, asked, fetchedAt, raw },
    data.map(({ point_time: start, value }) => ({
      gPerKwh: value === null ? null : value * gPerKwhInLbPerMwh,
      start,
      end: start + periodMs,
      observed: start,
      kind: 'marginal',
      isForecast: false,
      basis: 'direct',
      isEstimated: false,
    })),
  );
}
