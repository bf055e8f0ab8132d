/**
 * Great Britain's Carbon Intensity API (NESO): half-hours of average intensity, without a key. Not yet tried against
 * the live service.
 *
 * Invariant: `actual` is measured, `forecast` is not, and a slot without an actual is a forecast, even when it is over.
 * The factors are of combustion alone (CO2, `direct`), so the values are not comparable with life-cycle ones.
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
  type Span,
  type Statement,
  timeText,
  type ZonePlace,
} from './reading.ts';

const source = 'neso';
const slotMs = 30 * minuteMs;

const slotSchema = z.object({
  from: timeText,
  to: timeText,
  intensity: z.object({ forecast: z.number().nullable(), actual: z.number().nullish() }),
});
const replySchema = z.object({
  data: z.union([
    z.array(slotSchema),
    z.array(z.object({ regionid: z.number(), data: z.array(slotSchema) })).nonempty(),
  ]),
});

/** Makes the adapter. The `place` of a zone is empty for all of Great Britain, or the number of a region, 1 to 17. */
export function neso(http: Http, { baseUrl }: { readonly baseUrl: string }): GridAdapter {
  return {
    read: async (asked, span) => {
      const reply = await get(http, `${baseUrl}${pathOf(asked, span, http.now())}`);
      return isRefusal(reply) ? reply : parseNeso(reply.body, asked, reply.fetchedAt);
    },
  };
}

function pathOf({ place }: ZonePlace, span: Span, now: Date): string {
  if (place !== '') return `/regional/regionid/${place}`;
  // The newest slots have no actual yet, so a few hours back are asked for.
  const backMs = (span === 'latest' ? 3 : 24) * hourMs;
  const text = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}Z`;
  return `/intensity/${text(now.getTime() - backMs)}/${text(now.getTime() + slotMs)}`;
}

/** Reads half-hours in gCO2/kWh, national or of the region that was asked for. */
export function parseNeso(raw: string, asked: ZonePlace, fetchedAt: Date): GridReply {
  const parsed = parseReply(replySchema, raw);
  if (isRefusal(parsed)) return parsed;
  const slots: z.infer<typeof slotSchema>[] = [];
  for (const each of parsed.value.data) {
    const place = 'regionid' in each ? String(each.regionid) : '';
    if (place !== asked.place) return { refused: 'wrong_zone', detail: 'the reply is for another region' };
    slots.push(...('regionid' in each ? each.data : [each]));
  }
  return observations({ source, asked, fetchedAt, raw, periodMs: slotMs }, slots.map(statementOf));
}

function statementOf({ from, to, intensity }: z.infer<typeof slotSchema>): Statement {
  const actual = intensity.actual ?? null;
  return {
    gPerKwh: actual ?? intensity.forecast,
    start: from,
    end: to,
    kind: 'average',
    isForecast: actual === null,
    basis: 'direct',
    isEstimated: false,
  };
}
