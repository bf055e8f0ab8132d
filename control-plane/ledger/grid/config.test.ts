import { readSettings } from '@gw/contract/internal/environment';
import { expect, test } from 'vitest';
import { type GridSettings, readGridSettings } from './config.ts';

function read(environment: Record<string, string>): GridSettings {
  const settings = readSettings(environment);
  const grid = readGridSettings(settings);
  settings.finish();
  return grid;
}

test('without any setting there is no source, and no key is asked for', () => {
  expect(read({})).toMatchObject({ sources: [], refreshMs: 300_000, restatesEarlier: false });
  expect(read({ GW_GRID_RESTATE_EARLIER: 'true' })).toMatchObject({ restatesEarlier: true });
  expect(() => read({ GW_GRID_RESTATE_EARLIER: 'yes' })).toThrow('GW_GRID_RESTATE_EARLIER is neither true nor false');
});

test('each zone names its source and the place under which the source knows it, in order', () => {
  const grid = read({
    GW_GRID_SOURCES: 'SWE=electricity-maps:SE, GBR=neso,FRA=entsoe:10YFR-RTE------C,USA=watttime:CAISO_NORTH,',
    GW_GRID_ELECTRICITY_MAPS_KEY: 'k',
    GW_GRID_ELECTRICITY_MAPS_URL: 'http://127.0.0.1:9/',
    GW_GRID_ENTSOE_TOKEN: 't',
    GW_GRID_WATTTIME_USER: 'u',
    GW_GRID_WATTTIME_PASSWORD: 'p',
    GW_GRID_REFRESH_S: '60',
  });
  expect(grid.sources).toEqual([
    { zone: 'SWE', source: 'electricity-maps', place: 'SE' },
    { zone: 'GBR', source: 'neso', place: '' },
    { zone: 'FRA', source: 'entsoe', place: '10YFR-RTE------C' },
    { zone: 'USA', source: 'watttime', place: 'CAISO_NORTH' },
  ]);
  expect(grid).toMatchObject({
    refreshMs: 60_000,
    electricityMaps: { baseUrl: 'http://127.0.0.1:9', key: 'k' },
    neso: { baseUrl: 'https://api.carbonintensity.org.uk' },
  });
});

test('every problem is reported together, and no secret is', () => {
  const wrong = () =>
    read({
      GW_GRID_SOURCES:
        'nonsense,SWE=weather,SWE=electricity-maps,GBR=neso:18,FRA=entsoe:FR,USA=watttime:CAISO_NORTH,GBR=neso,GBR=neso:3',
      GW_GRID_NESO_URL: 'ftp://example.com',
      GW_GRID_WATTTIME_PASSWORD: 'secret\n',
      GW_GRID_REFRESH_S: '1',
    });
  expect(wrong).toThrow(
    /"nonsense"[\s\S]*"SWE=weather"[\s\S]*"SWE=electricity-maps"[\s\S]*"GBR=neso:18"[\s\S]*"FRA=entsoe:FR"[\s\S]*neso twice/,
  );
  expect(wrong).toThrow(
    /GW_GRID_REFRESH_S[\s\S]*GW_GRID_WATTTIME_USER[\s\S]*GW_GRID_WATTTIME_PASSWORD[\s\S]*GW_GRID_NESO_URL/,
  );
  expect(wrong).not.toThrow('secret\n');
});

test.each(['ELECTRICITY_MAPS', 'WATTTIME', 'NESO', 'ENTSOE'])(
  'GW_GRID_%s_URL is https, on loopback, or said to be in our own network',
  (source) => {
    const named = (url: string) => ({ [`GW_GRID_${source}_URL`]: url });
    for (const url of ['https://grid.example', 'http://127.0.0.1:9']) read(named(url));
    const plain = named('http://grid.example');
    const wrong = new RegExp(`GW_GRID_${source}_URL is plain http.*GW_GRID_${source}_LOCAL=true`);
    expect(() => read(plain)).toThrow(wrong);
    expect(() => read({ ...plain, [`GW_GRID_${source}_LOCAL`]: 'false' })).toThrow(wrong);
    expect(JSON.stringify(read({ ...plain, [`GW_GRID_${source}_LOCAL`]: 'true' }))).toContain('http://grid.example');
  },
);
