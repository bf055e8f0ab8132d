import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import { type FormOfAccountProps, SettingForm } from './setting-form.tsx';

/** How much slower or dearer a cleaner region may be. */
export function ToleranceForm({ account, onClose }: FormOfAccountProps) {
  const [latency, setLatency] = useState<number | string>(account.tolerance.added_latency_ms ?? '');
  const [cost, setCost] = useState<number | string>(account.tolerance.added_cost_percent ?? '');
  const tolerance = { added_latency_ms: boundIn(latency), added_cost_percent: boundIn(cost) };
  const field = { description: 'Empty: any', min: 0, max: 1_000_000, allowDecimal: false };
  return (
    <SettingForm setting="tolerance" account={account} wanted={{ tolerance }} onClose={onClose}>
      <NumberInput {...field} label="Added latency, ms" value={latency} onChange={setLatency} />
      <NumberInput {...field} label="Added cost, percent" value={cost} onChange={setCost} />
    </SettingForm>
  );
}

/** Empty means that there is no bound. */
const boundIn = (written: number | string): number | null => (typeof written === 'number' ? written : null);
