/** The fields of the catalogue's entries, from the tables that everything else about them follows from. */
import { deploymentFields, deploymentIdDoc } from '@gw/contract/internal/catalogue/deployment-fields';
import type { FieldTable } from '@gw/contract/internal/catalogue/field';
import { modelFields, modelIdDoc } from '@gw/contract/internal/catalogue/model-fields';
import { providerFields, providerIdDoc } from '@gw/contract/internal/catalogue/provider-fields';
import { regionCodeDoc, regionFields } from '@gw/contract/internal/catalogue/region-fields';
import { tableOf } from './numbers.ts';

function rowsOf(kind: string, id: 'id' | 'code', idDoc: string, table: FieldTable): string[][] {
  const fields = Object.entries(table).map(([name, { doc, form, help, needed, option }]) => {
    const shell = form === 'offers' ? '`--model`, `--without`' : `\`--${option}\``;
    return ['', `\`${name}\`${needed ? ' (needed)' : ''}`, shell, doc ?? help];
  });
  return [[kind, `\`${id}\` (needed)`, '', idDoc], ...fields];
}

export const catalogueFieldsTable = (): string =>
  tableOf(
    ['Entry', 'Field', 'Option', 'Meaning'],
    [
      ...rowsOf('model', 'id', modelIdDoc, modelFields),
      ...rowsOf('region', 'code', regionCodeDoc, regionFields),
      ...rowsOf('provider', 'id', providerIdDoc, providerFields),
      ...rowsOf('deployment', 'id', deploymentIdDoc, deploymentFields),
    ],
  );
