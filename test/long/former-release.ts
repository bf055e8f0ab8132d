/** The release before this one, built beside it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { checkout, inCheckout } from '@gw/stack/checkout';

/** Its tag. There is none before the first release; `GW_FORMER_RELEASE` names another tag, or a commit. */
export const formerRelease = process.env.GW_FORMER_RELEASE ?? '';

/** Returns why the upgrade cannot be shown here, or null if it can. */
export function whyNoFormerRelease(): string | null {
  if (formerRelease === '') return 'the first release is not out yet';
  const asked = spawnSync('git', ['rev-parse', '--verify', '--quiet', `${formerRelease}^{commit}`], { cwd: checkout });
  if (asked.status === 0) return null;
  return `there is no ${formerRelease} here, as in a shallow clone: git fetch --tags --unshallow`;
}

/** Returns the folder of the built release. It uses the packages that are installed here, so its lock file has to name the same. */
export function buildFormerRelease(): string {
  const folder = inCheckout('.gw', 'former-release');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'node_modules', '@gw'), { recursive: true });
  const archive = execFileSync('git', ['archive', formerRelease], { cwd: checkout, maxBuffer: 1024 ** 3 });
  execFileSync('tar', ['x', '-C', folder], { input: archive });
  const [from, to] = [inCheckout('node_modules'), join(folder, 'node_modules')];
  for (const name of readdirSync(from)) {
    if (name === '@gw' || name === '.cache') continue;
    if (name === '.package-lock.json') copyFileSync(join(from, name), join(to, name));
    else symlinkSync(join(from, name), join(to, name));
  }
  for (const name of readdirSync(join(from, '@gw'))) symlinkSync(join(folder, name), join(to, '@gw', name));
  execFileSync(process.execPath, [join(folder, 'cli', 'prepare.mjs')], { cwd: folder, stdio: 'pipe' });
  return folder;
}
