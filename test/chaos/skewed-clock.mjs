/**
 * Loaded into a service under test (`node --import`): its clock is wrong by as many milliseconds as the file
 * `GW_TEST_CLOCK_FILE` says, which is read ten times a second. Timers and `performance.now` go on as they are.
 */
import { readFileSync } from 'node:fs';

const file = process.env.GW_TEST_CLOCK_FILE ?? '';
let skewMs = 0;
setInterval(() => {
  try {
    skewMs = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    skewMs = 0;
  }
}, 100).unref();

const Genuine = Date;
const now = Genuine.now.bind(Genuine);
class Skewed extends Genuine {
  constructor(...values) {
    if (values.length === 0) super(now() + skewMs);
    else super(...values);
  }
  static now() {
    return now() + skewMs;
  }
}
globalThis.Date = Skewed;
