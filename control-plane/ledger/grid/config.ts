/**
 * Which source serves which grid zone, and with which key. `GW_GRID_SOURCES` names them in order of preference:
 *
 *   SWE=electricity-maps:SE,GBR=neso,FRA=entsoe:10YFR-RTE------C,USA=watttime:CAISO_NORTH
 *
 * Invariant: only the keys of sources that are named are demanded, and without any source nothing is.
 */
import { readList, type SettingReader } from '@gw/contract/internal/environment';
import type { ElectricityMapsSettings } from './electricity-maps.ts';
import type { EntsoeSettings } from './entsoe.ts';
import { readOutsideUrl } from './outside-url.ts';
import { type SourceName, sourceNames, type ZonePlace } from './reading.ts';
import type { WattTimeSettings } from './watttime.ts';

/** One source for one zone. */
export interface ZoneSource extends ZonePlace {
  readonly source: SourceName;
}

/** Sources in order of preference, with their addresses and keys. The keys of sources that are not named are empty. */
export interface GridSettings {
  readonly sources: readonly ZoneSource[];
  readonly refreshMs: number;
  /** Whether a source also restates the receipts of its first replies' hours that were made before it was configured. */
  readonly restatesEarlier: boolean;
  readonly electricityMaps: ElectricityMapsSettings;
  readonly wattTime: WattTimeSettings;
  readonly neso: { readonly baseUrl: string };
  readonly entsoe: EntsoeSettings;
}

const places: Readonly<Record<SourceName, { readonly form: RegExp; readonly example: string }>> = {
  'electricity-maps': { form: /^[A-Z0-9-]{2,20}$/, example: 'SWE=electricity-maps:SE' },
  watttime: { form: /^[A-Z0-9_]{2,40}$/, example: 'USA=watttime:CAISO_NORTH' },
  neso: { form: /^([1-9]|1[0-7])?$/, example: 'GBR=neso' },
  entsoe: { form: /^\d{2}[A-Z][A-Z0-9-]{13}$/, example: 'FRA=entsoe:10YFR-RTE------C' },
};
const example = 'GW_GRID_SOURCES=SWE=electricity-maps:SE,GBR=neso';
/** More often than this, no source has anything new. */
const shortestRefreshS = 30;

/** Reads the settings. What is wrong with them is reported to `settings`, without a key. */
export function readGridSettings(settings: SettingReader): GridSettings {
  const sources = readSources(settings);
  const uses = (name: SourceName): boolean => sources.some(({ source }) => source === name);
  const secretOf = (name: string, source: SourceName, shown: string): string =>
    uses(source) ? settings.secret(name, /^[\x20-\x7e]+$/, shown) : '';
  const refreshS = settings.integer('GW_GRID_REFRESH_S', 300);
  if (refreshS < shortestRefreshS)
    settings.problem(`GW_GRID_REFRESH_S is less than ${shortestRefreshS}. Example: GW_GRID_REFRESH_S=300`);
  return {
    sources,
    refreshMs: refreshS * 1000,
    restatesEarlier: readSwitch(settings, 'GW_GRID_RESTATE_EARLIER'),
    electricityMaps: {
      baseUrl: readUrl(settings, 'GW_GRID_ELECTRICITY_MAPS_URL', 'https://api.electricitymaps.com'),
      key: secretOf('GW_GRID_ELECTRICITY_MAPS_KEY', 'electricity-maps', '<the key of your account>'),
    },
    wattTime: {
      baseUrl: readUrl(settings, 'GW_GRID_WATTTIME_URL', 'https://api.watttime.org'),
      user: secretOf('GW_GRID_WATTTIME_USER', 'watttime', '<the name of your account>'),
      password: secretOf('GW_GRID_WATTTIME_PASSWORD', 'watttime', '<its password>'),
    },
    neso: { baseUrl: readUrl(settings, 'GW_GRID_NESO_URL', 'https://api.carbonintensity.org.uk') },
    entsoe: {
      baseUrl: readUrl(settings, 'GW_GRID_ENTSOE_URL', 'https://web-api.tp.entsoe.eu'),
      token: secretOf('GW_GRID_ENTSOE_TOKEN', 'entsoe', '<the token of your account>'),
    },
  };
}

function readSwitch(settings: SettingReader, name: string): boolean {
  const text = settings.optional(name, 'false');
  if (text !== 'true' && text !== 'false') settings.problem(`${name} is neither true nor false. Example: ${name}=true`);
  return text === 'true';
}

function readSources(settings: SettingReader): ZoneSource[] {
  const sources: ZoneSource[] = [];
  for (const text of readList(settings, 'GW_GRID_SOURCES')) {
    const entry = readEntry(text);
    if (typeof entry === 'string') settings.problem(entry);
    else if (sources.some(({ zone, source }) => zone === entry.zone && source === entry.source))
      settings.problem(`GW_GRID_SOURCES names ${entry.source} twice for ${entry.zone}. Example: ${example}`);
    else sources.push(entry);
  }
  return sources;
}

/** Returns the source, or text that says what is wrong. */
function readEntry(text: string): ZoneSource | string {
  const [, zone, name, place = ''] = /^([A-Za-z0-9_-]{2,32})=([a-z-]+)(?::(.*))?$/.exec(text) ?? [];
  if (zone === undefined) return `GW_GRID_SOURCES: "${text}" is not ZONE=SOURCE:PLACE. Example: ${example}`;
  const source = sourceNames.find((each) => each === name);
  if (source === undefined)
    return `GW_GRID_SOURCES: "${text}" names no known source (${sourceNames.join(', ')}). Example: ${example}`;
  const { form, example: shown } = places[source];
  if (!form.test(place)) return `GW_GRID_SOURCES: "${text}" has no such place. Example: GW_GRID_SOURCES=${shown}`;
  return { zone, source, place };
}

/** `GW_GRID_NESO_LOCAL` marks `GW_GRID_NESO_URL`, and so on. */
function readUrl(settings: SettingReader, name: string, example: string): string {
  const text = settings.optional(name, example);
  return readOutsideUrl(settings, { name, text, example, localName: name.replace(/_URL$/, '_LOCAL') });
}
