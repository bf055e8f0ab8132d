import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openReserve } from './disk-reserve.ts';

test.each([1, 1024 * 1024, 2 * 1024 * 1024 + 1000])(
  '%i bytes are as many on the disk, and none can be compressed',
  async (bytes) => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-reserve-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const file = join(dir, 'reserve');
    const reserve = openReserve(file, bytes);
    await reserve.take();
    const held = readFileSync(file);
    expect(held.length).toBe(bytes);
    const [first, second] = [0, 1024 * 1024].map((at) => held.subarray(at, at + 1000));
    if (bytes > 1) expect(first?.equals(Buffer.alloc(1000))).toBe(false);
    expect(first?.equals(second ?? Buffer.alloc(0))).toBe(false);
    expect(await reserve.giveBack()).toBe(true);
    expect(await reserve.giveBack()).toBe(false);
  },
);
