/**
 * The four live sources of carbon intensity as servers of our own that can be broken one by one.
 *
 * Their honest values are the same at every hour, so any other value in a receipt was never honest.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hourMs } from '@gw/contract/internal/durations';
import {
  acknowledgement,
  electricityMapsReply,
  france,
  generationDocument,
  nesoSlot,
  wattTimeReply,
} from '@gw/testing/control-plane/stub-source';

/** How a source can fail: not there, an error of its own, a reply that is none, and a reply without a value. */
export const gridFaults = ['killed', '500', 'garbage', 'null'] as const;
export type GridFault = (typeof gridFaults)[number];

/** Grid zone → what its live source says, g/kWh. */
export const honest = { SWE: 31, USA: 120 } as const;

export interface GridStub {
  readonly name: string;
  readonly url: string;
  /** Null: honest again. */
  fail(error: GridFault | null): Promise<void>;
  stop(): Promise<void>;
}

export interface GridStubs {
  readonly all: readonly GridStub[];
  /** Settings of the control plane. */
  readonly variables: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const minutes = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}Z`;
/** The beginning of the hour under way, or of one before it. */
const hour = (ago = 0): number => Math.floor(Date.now() / hourMs) * hourMs - ago * hourMs;

type Value = 'honest' | 'null';

function electricityMaps(path: string, value: Value): unknown {
  const carbonIntensity = value === 'null' ? null : honest.SWE;
  const at = (ago: number) =>
    electricityMapsReply({ zone: 'SE', carbonIntensity, datetime: new Date(hour(ago)).toISOString() });
  return path.includes('/history') ? { zone: 'SE', history: [at(1), at(0)] } : at(0);
}

function neso(_path: string, value: Value): unknown {
  const start = Math.floor(Date.now() / (hourMs / 2)) * (hourMs / 2);
  const slot = (from: number) => nesoSlot(honest.USA, minutes(from), minutes(from + hourMs / 2));
  const nothing = {
    from: minutes(start),
    to: minutes(start + hourMs / 2),
    intensity: { forecast: null, actual: null },
  };
  return { data: value === 'null' ? [nothing] : [slot(start - hourMs / 2), slot(start)] };
}

function entsoe(_path: string, value: Value): unknown {
  if (value === 'null') return acknowledgement('999');
  const interval = { start: minutes(hour(1)), end: minutes(hour()) };
  return generationDocument([
    { type: 'B14', megawatts: [40_000], ...interval },
    { type: 'B16', megawatts: [10_000], ...interval },
  ]);
}

function wattTime(path: string, value: Value): unknown {
  if (path.startsWith('/login')) return { token: 'stub' };
  const reply = wattTimeReply({}, value === 'null' ? null : 870) as { readonly meta: object };
  const point = Math.floor(Date.now() / 300_000) * 300_000;
  return { ...reply, data: [{ point_time: new Date(point).toISOString(), value: value === 'null' ? null : 870 }] };
}

const sources = { 'electricity-maps': electricityMaps, neso, entsoe, watttime: wattTime };

async function startStub(name: keyof typeof sources): Promise<GridStub> {
  let fault: GridFault | null = null;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (fault === '500') response.writeHead(500).end('The stub is broken.');
    else if (fault === 'garbage') response.end('<html>{"carbonIntensity": 9999, "zone": "SE"');
    else {
      const said = sources[name](request.url ?? '', fault === 'null' ? 'null' : 'honest');
      response.end(typeof said === 'string' ? said : JSON.stringify(said));
    }
  };
  let server: Server | null = null;
  let port = 0;
  const start = async (): Promise<void> => {
    const made = createServer(handle);
    await new Promise<void>((resolve) => made.listen(port, '127.0.0.1', resolve));
    port = (made.address() as AddressInfo).port;
    server = made;
  };
  const stop = async (): Promise<void> => {
    const open = server;
    server = null;
    if (open === null) return;
    open.closeAllConnections();
    await new Promise((resolve) => open.close(resolve));
  };
  await start();
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    fail: async (next) => {
      fault = next;
      if (next === 'killed') await stop();
      else if (server === null) await start();
    },
    stop,
  };
}

export async function startGridStubs(): Promise<GridStubs> {
  const [maps, british, european, marginal] = await Promise.all([
    startStub('electricity-maps'),
    startStub('neso'),
    startStub('entsoe'),
    startStub('watttime'),
  ]);
  const all = [maps, british, european, marginal];
  return {
    all,
    variables: {
      GW_GRID_SOURCES: `SWE=electricity-maps:SE,USA=neso,FRA=entsoe:${france},USA=watttime:CAISO_NORTH`,
      GW_GRID_REFRESH_S: '30',
      GW_GRID_ELECTRICITY_MAPS_URL: maps.url,
      GW_GRID_ELECTRICITY_MAPS_KEY: 'stub',
      GW_GRID_NESO_URL: british.url,
      GW_GRID_ENTSOE_URL: european.url,
      GW_GRID_ENTSOE_TOKEN: 'stub',
      GW_GRID_WATTTIME_URL: marginal.url,
      GW_GRID_WATTTIME_USER: 'stub',
      GW_GRID_WATTTIME_PASSWORD: 'stub',
    },
    stop: async () => void (await Promise.all(all.map((stub) => stub.stop()))),
  };
}
