import { openDatabase } from '@gw/prisma/client';
import { byControlPlaneRole } from '@gw/prisma/roles';
import { createDatabase } from '@gw/testing/prisma/postgres';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { warnOfRights } from './append.ts';

test('a service that connects as the owner says so in its log, and one with a role of its own says nothing', async () => {
  const postgres = await createDatabase('migrated');
  const linesOf = async (url: string): Promise<string[]> => {
    const lines: string[] = [];
    const log = pino({}, { write: (line) => void lines.push(line) });
    const db = openDatabase(url, { connections: 1, onConnectionLost: () => {} });
    await warnOfRights({ databases: byControlPlaneRole(() => db), log });
    await db.$disconnect();
    return lines;
  };
  expect(await linesOf(postgres.serviceUrl)).toEqual([]);
  expect((await linesOf(postgres.url))[0]).toMatch(/"level":40.*"role":"gw"/);
  await postgres.stop();
  expect(await linesOf(postgres.serviceUrl)).toEqual([]);
}, 60_000);
