import { expect, onTestFinished, test, vi } from 'vitest';
import { EventReader } from './events.ts';

test('the names of events are known again, and no blanks around them are kept', () => {
  const names: (string | null)[] = [];
  const reader = new EventReader({
    known: () => false,
    event: (_data, name) => void names.push(name),
    isWhole: () => true,
    comment: () => undefined,
  });
  const copied = vi.spyOn(Buffer, 'from');
  onTestFinished(() => copied.mockRestore());
  const lines = ['event: one', 'event: one', 'event: two', `event: ${' '.repeat(100_000)}three`, 'event: two', 'id: 1'];
  const pieces = lines.map((line) => new TextEncoder().encode(`${line}\ndata: {}\n\n`));
  for (const { buffer, length } of pieces) reader.push(Buffer.from(buffer, 0, length));
  expect(names).toEqual(['one', 'one', 'two', 'three', 'two', null]);
  const kept = copied.mock.calls.map(([bytes]): unknown => bytes).filter((bytes) => bytes instanceof Uint8Array);
  expect(kept.map((bytes) => new TextDecoder().decode(bytes))).toEqual(['event: one', 'event: two']);
});
