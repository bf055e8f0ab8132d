import { expect, test } from 'vitest';
import { countries, countrySchema } from './countries.ts';

const complaintAbout = (code: string) => countrySchema.safeParse(code).error?.issues[0]?.message ?? null;

test('the assigned codes are taken, and no other two letters', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const taken = letters.flatMap((a) => letters.map((b) => a + b)).filter((code) => complaintAbout(code) === null);
  expect(taken).toHaveLength(249);
  expect(new Set(taken)).toEqual(countries);
  for (const code of ['DE', 'GB', 'IR', 'KP', 'SS', 'TW', 'AX']) expect(complaintAbout(code), code).toBeNull();
  for (const code of ['', 'de', 'Germany', 'DEU', 'D', 'constructor', 'XX', 'XK', 'ZZ', 'QM'])
    expect(complaintAbout(code), code).toContain('is not an assigned ISO 3166-1 alpha-2 code');
});

test('what people write for a country names its code', () => {
  for (const [given, code] of [
    ['UK', 'GB'],
    ['NK', 'KP'],
    ['SU', 'RU'],
    ['ir', 'IR'],
    ['uk', 'GB'],
  ] as const)
    expect(complaintAbout(given), given).toContain(`write ${code}`);
  expect(complaintAbout('XX')).not.toContain('write');
});
