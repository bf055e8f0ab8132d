/** The factors of the proxy tier, as methodology/README.md prints them. */

import { standIns } from '@gw/methodology/factors';
import type { ModelClass } from '@gw/methodology/facts';
import { classFactors } from '@gw/methodology/internals/documents/class-factors';
import { tableOf } from './numbers.ts';

const sizes: Readonly<Record<ModelClass, string>> = {
  small: ', to 10B',
  medium: ', 10–40B',
  large: ', 40–120B, dense',
  moe_small_active: '',
  frontier: '',
  unknown: ', of any size',
  embedding: '',
};

const range = ({ min, max }: { readonly min: number; readonly max: number }): string =>
  min === max ? String(min) : `${min}–${max}`;

const per1000 = (wh: number): string => (wh * 1000).toFixed(4);

/** Wh per thousand tokens, before idle and overhead. */
export function proxyClassesTable(): string {
  const rows = (Object.keys(sizes) as ModelClass[]).map((name) => {
    const { active, total } = standIns[name];
    const { perInputToken, perOutputToken } = classFactors[name];
    const standIn = active.max === total.max ? `${total.max}B` : `${total.max}B, ${range(active)}B active`;
    const written =
      name === 'embedding' ? ['–', '–'] : [perOutputToken.acceleratorWh, perOutputToken.hostWh].map(per1000);
    return [`\`${name}\`${sizes[name]}`, standIn, ...written, per1000(perInputToken.acceleratorWh)];
  });
  return tableOf(['Class', 'Stand-in', 'Accelerator, output', 'Host, output', 'Accelerator, input'], rows);
}
