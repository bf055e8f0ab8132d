/** `npx vitest run --project fast document-schema -u` writes the schema that editors and checks in git use. */
import { aliasFields, aliasIdDoc } from '@gw/contract/internal/catalogue/alias-fields';
import { deploymentFields, deploymentIdDoc } from '@gw/contract/internal/catalogue/deployment-fields';
import type { FieldTable } from '@gw/contract/internal/catalogue/field';
import { modelFields, modelIdDoc } from '@gw/contract/internal/catalogue/model-fields';
import { providerFields, providerIdDoc } from '@gw/contract/internal/catalogue/provider-fields';
import { regionCodeDoc, regionFields } from '@gw/contract/internal/catalogue/region-fields';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { catalogueDocumentSchema } from './catalogue-document.ts';

const tables: Readonly<Record<string, FieldTable>> = {
  models: modelFields,
  regions: regionFields,
  providers: providerFields,
  deployments: deploymentFields,
  aliases: aliasFields,
};
const ids: Readonly<Record<string, string>> = {
  models: modelIdDoc,
  regions: regionCodeDoc,
  providers: providerIdDoc,
  deployments: deploymentIdDoc,
  aliases: aliasIdDoc,
};

interface Described {
  description?: string;
}
interface Section {
  items: { properties: Record<string, Described> };
}

/** With what each field means, from the tables that everything else about them follows from. */
function documentSchema(): unknown {
  const schema = z.toJSONSchema(catalogueDocumentSchema, { io: 'input', unrepresentable: 'any' });
  const sections = schema.properties as unknown as Record<string, Section>;
  for (const [name, { items }] of Object.entries(sections)) {
    for (const [field, property] of Object.entries(items.properties))
      property.description =
        tables[name]?.[field]?.doc ?? tables[name]?.[field]?.help ?? ids[name] ?? property.description ?? '';
  }
  return { title: 'gw.yaml: the catalogue of the gateway', ...schema };
}

test('the published schema is that by which a file is checked', async () => {
  await expect(`${JSON.stringify(documentSchema(), null, 2)}\n`).toMatchFileSnapshot('../../../docs/gw.schema.json');
});
