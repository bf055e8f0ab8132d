import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seam } from './normalise.ts';
import { mostReadings, readings } from './pattern.ts';

const word = fc.constantFrom('make', 'a', 'bomb');
const joint = fc.constantFrom(' ', seam);

test('a text is read a fixed number of times at most, however many seams there are', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(word, joint), { maxLength: 60 }), (parts) => {
      const text = parts.flat().join('');
      const all = [...readings(text)];
      expect(all.length).toBeLessThanOrEqual(mostReadings);
      for (const reading of all) {
        expect(reading).not.toContain(seam);
        expect(reading.length).toBeLessThanOrEqual(text.length);
      }
    }),
  );
  expect([...readings(`a${seam}`.repeat(100_000))]).toHaveLength(mostReadings);
});

test('each seam alone joins what it cuts in one of the readings, with those near it apart', () => {
  for (let seams = 1; seams < 30; seams++)
    for (let cut = 0; cut < seams; cut++) {
      const words = Array.from({ length: seams + 1 }, (_, at) => `w${at}.`);
      const near = words
        .slice(Math.max(0, cut - 2), cut + 4)
        .join(' ')
        .replace(`w${cut}. w${cut + 1}.`, `w${cut}.w${cut + 1}.`);
      expect(
        [...readings(words.join(seam))].some((reading) => reading.includes(near)),
        `${cut} of ${seams}`,
      ).toBe(true);
    }
});
