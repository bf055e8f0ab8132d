/** A grid source on a socket, which answers in the shapes that the real ones document. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Http } from '@gw/control-plane/internals/ledger/grid/http';
import { openAddressGuard } from '@gw/service/address-guard';

export interface StubAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: unknown;
  /** Sends the head and then nothing more. */
  readonly hangs?: boolean;
}

export interface StubSource {
  readonly url: string;
  /** The requests in order: the path with its query, and the headers. */
  readonly asked: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  /** Sets what it answers from now on. */
  answer(next: StubAnswer | ((path: string) => StubAnswer)): void;
  stop(): Promise<void>;
}

export async function startStubSource(): Promise<StubSource> {
  let next: (path: string) => StubAnswer = () => ({ status: 404 });
  const asked: StubSource['asked'] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push({ path, headers: request.headers });
    send(response, next(path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: (given) => {
      next = typeof given === 'function' ? given : () => given;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, { status = 200, headers = {}, body = '', hangs }: StubAnswer): void {
  response.writeHead(status, headers);
  if (hangs) response.write(' ');
  else response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export const httpAt = (now: () => Date, changes: Partial<Http> = {}): Http => ({
  guard: openAddressGuard(),
  now,
  timeoutMs: 5000,
  maxBytes: 1_000_000,
  ...changes,
});

export const electricityMapsReply = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  zone: 'DE',
  carbonIntensity: 322,
  datetime: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:12:21.002Z',
  createdAt: '2026-11-18T06:20:31.772Z',
  emissionFactorType: 'lifecycle',
  isEstimated: false,
  estimationMethod: null,
  ...changes,
});

export const wattTimeReply = (meta: Record<string, unknown> = {}, value: number | null = 870): object => ({
  data: [{ point_time: '2026-11-21T09:00:00+00:00', value }],
  meta: {
    region: 'CAISO_NORTH',
    signal_type: 'co2_moer',
    units: 'lbs_co2_per_mwh',
    model: { date: '2023-03-01' },
    data_point_period_seconds: 300,
    generated_at: '2026-11-21T09:00:00+00:00',
    generated_at_period_seconds: 300,
    warnings: [],
    ...meta,
  },
});

export const nesoSlot = (actual: number | null, from = '2026-11-21T09:00Z', to = '2026-11-21T09:30Z'): object => ({
  from,
  to,
  intensity: { forecast: 266, actual, index: 'moderate' },
});

export const france = '10YFR-RTE------C';

export interface StubSeries {
  readonly type: string;
  readonly megawatts: readonly number[];
  readonly domain?: string;
  readonly direction?: 'in' | 'out';
  readonly resolution?: string;
  readonly curve?: string;
  readonly start?: string;
  readonly end?: string;
}

export const generationDocument = (series: readonly StubSeries[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<GL_MarketDocument xmlns="urn:iec62325.351:tc57wg16:451-6:generationloaddocument:3:0">
  <mRID>1</mRID><type>A75</type><process.processType>A16</process.processType>
  ${series.map(timeSeries).join('\n  ')}
</GL_MarketDocument>`;

function timeSeries(series: StubSeries): string {
  const { domain = france, direction = 'in', resolution = 'PT60M', curve = 'A01' } = series;
  const { start = '2026-11-21T08:00Z', end = '2026-11-21T09:00Z' } = series;
  const points = series.megawatts.map(
    (quantity, index) => `<Point><position>${index + 1}</position><quantity>${quantity}</quantity></Point>`,
  );
  return `<TimeSeries>
    <mRID>1</mRID><businessType>A01</businessType>
    <${direction}BiddingZone_Domain.mRID codingScheme="A01">${domain}</${direction}BiddingZone_Domain.mRID>
    <quantity_Measure_Unit.name>MAW</quantity_Measure_Unit.name><curveType>${curve}</curveType>
    <MktPSRType><psrType>${series.type}</psrType></MktPSRType>
    <Period>
      <timeInterval><start>${start}</start><end>${end}</end></timeInterval>
      <resolution>${resolution}</resolution>${points.join('')}
    </Period>
  </TimeSeries>`;
}

export const acknowledgement = (code: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Acknowledgement_MarketDocument xmlns="urn:iec62325.351:tc57wg16:451-1:acknowledgementdocument:7:0">
  <mRID>1</mRID><Reason><code>${code}</code><text>No matching data found</text></Reason>
</Acknowledgement_MarketDocument>`;
