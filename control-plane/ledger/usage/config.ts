/** In which currency the prices of the catalogue are, and so what usage says of money. */
import type { SettingReader } from '@gw/contract/internal/environment';

export function readCurrency(settings: SettingReader): string {
  const currency = settings.optional('GW_CURRENCY', 'USD');
  if (!Intl.supportedValuesOf('currency').includes(currency))
    settings.problem('GW_CURRENCY is not the code of a currency (ISO 4217). Example: GW_CURRENCY=EUR');
  return currency;
}
