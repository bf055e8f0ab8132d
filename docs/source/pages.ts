/**
 * The generated parts of the documentation: everything between `<!-- generated: name -->` and `<!-- end -->`.
 *
 * Invariant: a JSON example, and a table of what the product computes, is never written by hand. A block has one source, and
 * a JSON block names the schema that it has to satisfy.
 */

import { runCommand } from '@gw/cli/internals/command-list';
import { auditEntrySchema } from '@gw/contract/audit';
import { chatRequestSchema, chatResponseSchema } from '@gw/contract/chat';
import { aliasFields, aliasIdDoc } from '@gw/contract/internal/catalogue/alias-fields';
import { deploymentFields, deploymentIdDoc } from '@gw/contract/internal/catalogue/deployment-fields';
import type { FieldTable } from '@gw/contract/internal/catalogue/field';
import { knownProviders } from '@gw/contract/internal/catalogue/known-providers';
import { modelFields, modelIdDoc } from '@gw/contract/internal/catalogue/model-fields';
import { providerFields, providerIdDoc } from '@gw/contract/internal/catalogue/provider-fields';
import { regionCodeDoc, regionFields } from '@gw/contract/internal/catalogue/region-fields';
import { policyRuleSchema, policyRulesSchema } from '@gw/contract/internal/policy-rules';
import { lineageStepSchema, revisionSchema } from '@gw/contract/lineage';
import { openApiDocument } from '@gw/contract/openapi';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { usageSchema } from '@gw/contract/usage';
import { usageImpactsSchema } from '@gw/contract/usage-impacts';
import { assess, type CallFacts } from '@gw/methodology/assess';
import { checkTexts } from '@gw/methodology/internals/lineage/checks';
import type { Lineage } from '@gw/methodology/lineage';
import { usageImpacts } from '@gw/receipt-sidecar/internals/receipt/usage-impacts';
import { z } from 'zod';
import { byHandTable } from './by-hand.ts';
import { coverageTable } from './coverage.ts';
import { examples } from './examples.ts';
import { forgeriesTable } from './forgeries.ts';
import { clientTable, tierLimitsTable } from './limits.ts';
import { lineageGraph } from './lineage-graph.ts';
import { formulaFunctionsTable, formulaGrammar, methodologiesTable, methodologyVersions } from './methodologies.ts';
import { jsonText, tableOf } from './numbers.ts';
import { costTable, partsTable, performanceReport, runText, speedTable, stepsTable } from './performance.ts';
import { reachTable } from './performance-reach.ts';
import { proxyClassesTable } from './proxy-classes.ts';
import { publishedTable } from './published.ts';
import { agesTable, boundariesTable, fieldsTable, tiersTable, versionsTable } from './receipt-tables.ts';
import { chatEvents, chatReply, chatRequest, chatStream } from './replies.ts';
import { classifierRule, exampleRules, screenedEntry, screeningSetsTable } from './screening.ts';
import { secretsTable } from './secrets.ts';
import { usageReply } from './usage.ts';
import { workedFacts, workedImpact, workedLineage } from './worked-example.ts';

/** The table of well-known providers. */
const knownProvidersTable = (): string =>
  tableOf(
    ['`--as`', 'Provider', 'Address', 'APIs', 'Called otherwise than OpenAI by', 'Written after'],
    Object.entries(knownProviders).map(([id, known]) => {
      const { apis, auth_header: header, base_url, example, health_path: health, path, request_fields = {} } = known;
      const fields = Object.entries(request_fields);
      const renamed = fields.flatMap(([name, as]) => (as ? `\`${name}\` as \`${as}\`` : []));
      const left = fields.flatMap(([name, as]) => (as ? [] : `\`${name}\``));
      const otherwise = [
        ...(path ? [`path \`${path}\``] : []),
        ...(header ? [`header \`${header}\``] : []),
        ...(health ? [`health path \`${health}\``] : []),
        ...renamed,
        ...(left.length > 0 ? [`without ${left.join(', ')}`] : []),
      ];
      const address = base_url ?? `its own, like ${example}`;
      return [`\`${id}\``, known.name, address, apis.join(', '), otherwise.join(', '), known.source];
    }),
  );

let text = '';
for (const name of ['up', 'status', 'logs', 'bench', 'verify'])
  await runCommand([name, '--help'], (part) => (text += text === '' ? part : `\n${part}`));

/** Prints the options of the commands that have any. */
const commandHelp = text.trimEnd();

export interface Block {
  readonly text: string;
  /** For JSON blocks: the schema that readers may rely on. */
  readonly schema?: z.ZodType;
}

const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;
const json = (value: unknown, schema: z.ZodType): Block => ({ text: fenced('json', jsonText(value)), schema });

function lineageOf({ lineage }: { readonly lineage: Lineage | null }): Lineage {
  if (lineage === null) throw new Error('This example has no lineage.');
  return lineage;
}

function stepOf(lineage: Lineage, id: string): unknown {
  return lineage.steps.find((step) => step.id === id);
}

/** Some fields of a receipt. */
function excerpt(receipt: Receipt, ...fields: (keyof Receipt)[]): Block {
  const shown = Object.fromEntries(fields.map((field) => [field, receipt[field]]));
  return json(shown, receiptSchema.partial());
}

/** The fields of the catalogue's entries, from the tables that everything else about them follows from. */
function rowsOf(kind: string, id: 'id' | 'code', idDoc: string, table: FieldTable): string[][] {
  const fields = Object.entries(table).map(([name, { doc, form, help, needed, option }]) => {
    const shell = form === 'offers' ? '`--model`, `--without`' : `\`--${option}\``;
    return ['', `\`${name}\`${needed ? ' (needed)' : ''}`, shell, doc ?? help];
  });
  return [[kind, `\`${id}\` (needed)`, '', idDoc], ...fields];
}

const catalogueFieldsTable = (): string =>
  tableOf(
    ['Entry', 'Field', 'Option', 'Meaning'],
    [
      ...rowsOf('model', 'id', modelIdDoc, modelFields),
      ...rowsOf('region', 'code', regionCodeDoc, regionFields),
      ...rowsOf('provider', 'id', providerIdDoc, providerFields),
      ...rowsOf('deployment', 'id', deploymentIdDoc, deploymentFields),
      ...rowsOf('alias', 'id', aliasIdDoc, aliasFields),
    ],
  );

/** As in the OpenAPI document that clients get. */
const document = openApiDocument('https://gw.example.com') as unknown as {
  components: { schemas: { Receipt: { properties: Parameters<typeof fieldsTable>[0] } } };
};
const main = examples.parametric;

export const blocks: Readonly<Record<string, () => Block>> = {
  'receipt-short': () =>
    excerpt(
      main.receipt,
      'object',
      'tier',
      'boundary',
      'model',
      'region',
      'energy_wh',
      'energy_low_wh',
      'energy_high_wh',
      'carbon_g',
      'water_ml',
      'grid_intensity_g_per_kwh',
      'grid_intensity_source',
      'methodology',
    ),
  receipt: () => json(main.receipt, receiptSchema),
  fields: () => ({ text: fieldsTable(document.components.schemas.Receipt.properties) }),
  tiers: () => ({ text: tiersTable() }),
  boundaries: () => ({ text: boundariesTable() }),
  ages: () => ({ text: agesTable() }),
  versions: () => ({ text: versionsTable() }),
  revision: () => json(examples.restated.lineageReply.revision, revisionSchema),
  'usage-impacts': () => json(usageImpacts(main.receipt), usageImpactsSchema),
  'lineage-step': () => json(stepOf(lineageOf(main), 'request_usage_gwp'), lineageStepSchema),
  'lineage-graph': () => ({ text: fenced('mermaid', lineageGraph(lineageOf(main))) }),
  'command-help': () => ({ text: fenced('text', commandHelp) }),
  'chat-request': () => json(chatRequest, chatRequestSchema),
  'chat-reply': () => json(chatReply(), chatResponseSchema),
  'chat-stream': () => ({ text: fenced('text', chatStream()) }),
  'usage-issued': () => json(usageReply('issued'), usageSchema),
  'usage-restated': () => json(usageReply('restated'), usageSchema),
  'policy-rules': () => json(exampleRules, policyRulesSchema),
  'classifier-rule': () => json(classifierRule, policyRuleSchema),
  'screening-sets': () => ({ text: screeningSetsTable() }),
  'screened-entry': () => json(screenedEntry(), auditEntrySchema.partial()),
  'catalogue-fields': () => ({ text: catalogueFieldsTable() }),
  'known-providers': () => ({ text: knownProvidersTable() }),
  'limits-tiers': () => ({ text: tierLimitsTable() }),
  'limits-client': () => ({ text: clientTable() }),
  'performance-run': () => ({ text: runText(performanceReport()) }),
  'performance-speed': () => ({ text: speedTable(performanceReport()) }),
  'performance-cost': () => ({ text: costTable(performanceReport()) }),
  'performance-parts': () => ({ text: partsTable(performanceReport()) }),
  'performance-reach': () => ({ text: reachTable(performanceReport()) }),
  'performance-steps': () => ({ text: stepsTable(performanceReport()) }),
  'proxy-classes': () => ({ text: proxyClassesTable() }),
  published: () => ({ text: publishedTable() }),
  coverage: () => ({ text: coverageTable() }),
  forgeries: () => ({ text: forgeriesTable() }),
  secrets: () => ({ text: secretsTable() }),
  methodologies: () => ({ text: methodologiesTable() }),
  'methodology-versions': () => ({ text: methodologyVersions() }),
  'formula-grammar': () => ({ text: fenced('text', formulaGrammar()) }),
  'formula-functions': () => ({ text: formulaFunctionsTable() }),
  'verification-checks': () => ({
    text: tableOf(
      ['Check', 'Holds if'],
      Object.entries(checkTexts).map(([id, text]) => [`\`${id}\``, text]),
    ),
  }),
  'worked-facts': () =>
    json(
      workedFacts,
      z.custom<CallFacts>((facts) => assess(facts as CallFacts).ok),
    ),
  'worked-receipt': () => json(workedImpact(), receiptSchema.partial()),
  'worked-by-hand': () => ({ text: byHandTable(workedLineage()) }),
  'by-hand': () => ({ text: byHandTable(lineageOf(main)) }),
};

const marked = /<!-- generated: ([\w-]+) -->\n[\s\S]*?<!-- end -->/g;

/** The page with each generated part as it has to be. Throws for a name that nothing generates. */
export function filled(page: string): string {
  return page.replace(marked, (_, name: string) => {
    const block = blocks[name];
    if (block === undefined) throw new Error(`Nothing generates "${name}".`);
    return `<!-- generated: ${name} -->\n\n${block().text}\n\n<!-- end -->`;
  });
}

/** The names of the generated parts of a page, and the page without them. */
export function partsOf(page: string): { readonly names: readonly string[]; readonly rest: string } {
  return { names: [...page.matchAll(marked)].map(([, name = '']) => name), rest: page.replace(marked, '') };
}

/** The chunk that carries the receipt. */
function lastChunk(): unknown {
  const data = [...chatEvents().matchAll(/^data: (\{.*\})$/gm)].map(([, text = '']) => text);
  return JSON.parse(data.at(-1) ?? 'null');
}

/** The examples of the OpenAPI document, by the name of their schema. */
export function openApiExamples(): Readonly<Record<string, unknown>> {
  return {
    ChatCompletionRequest: chatRequest,
    ChatCompletion: chatReply(),
    ChatCompletionChunk: lastChunk(),
    Receipt: examples.parametric.receipt,
    RoutingTrace: examples.parametric.trace,
    Usage: usageReply('restated'),
    // The shortest lineage.
    ReceiptLineage: examples.proxyNarrow.lineageReply,
  };
}
