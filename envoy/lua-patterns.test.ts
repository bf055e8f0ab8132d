/** Lua tries a pattern from each letter of a text, which takes the square of its length if the pattern begins with any letters and does not fit. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const filters = readdirSync(import.meta.dirname).filter((name) => /\.lua(\.ts)?$/.test(name));

test.each(filters)('each pattern of %s that begins with any letters is anchored', (name) => {
  const text = readFileSync(join(import.meta.dirname, name), 'utf8');
  expect(text.match(/(?:match|find|gsub)\((?:[^'"()]*, )?['"]\(?\.[*+-]/g) ?? []).toEqual([]);
});

test('the filters were found', () => {
  expect(filters.length).toBeGreaterThan(3);
});
