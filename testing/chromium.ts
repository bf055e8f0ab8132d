/** The browser of this machine, for tests of pages. */
import { execFileSync } from 'node:child_process';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The name of its command; null: there is none. */
export const chromium: string | null =
  names.find((name) => {
    try {
      return execFileSync(name, ['--version'], { stdio: ['ignore', 'pipe', 'ignore'] }).length > 0;
    } catch {
      return false;
    }
  }) ?? null;

/** Is added to the title of a test that is skipped without one. */
export const howToGetChromium =
  chromium === null ? ' (skipped: no Chromium; Debian and Ubuntu: apt-get install chromium)' : '';

/** So that it asks nobody outside, and runs in a container. */
export const quietFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
