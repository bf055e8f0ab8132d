/**
 * Shows a pack to people: whether it holds, charts, coverage, exclusions, methods and sources.
 *
 * Invariants: the page begins with the result of the verification. It has no script and fetches nothing, and tells the browser so. Every text
 * of the pack is escaped. Simulated calls share no chart with real ones, nor does carbon of one grid basis with carbon of another.
 */
import { escaped } from '@gw/contract/internal/html-text';
import { licenceName } from '@gw/contract/pack/licences';
import { barChart, lineChart, type Point, shortNumber } from './charts.ts';
import { isNode, type Node } from './receipt-node.ts';
import { nameToTrust, sealWords } from './seal-words.ts';
import type { PackVerification } from './verify.ts';
import { wholeText } from './whole-text.ts';

const rowsOf = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : []);
const numberOf = (value: unknown): number => (value === null || value === undefined ? 0 : Number(value));

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem;break-after:avoid}svg{width:100%;height:auto;break-inside:avoid}
svg text{font-size:12px;fill:#444}.grid{stroke:#ddd}.band{fill:#2b7a5b;opacity:.18}.line{fill:none;stroke:#2b7a5b;stroke-width:2}
circle{fill:#2b7a5b}.bar{fill:#2b7a5b;opacity:.75}.bound{stroke:#1b1f24;stroke-width:1.5}
table{border-collapse:collapse;width:100%;font-size:13px}td,th{text-align:left;border-bottom:1px solid #ddd;padding:.3rem .5rem;vertical-align:top;overflow-wrap:anywhere}
.good{border-left:4px solid #2b7a5b}.bad{border-left:4px solid #b3261e}.good,.bad{padding:.5rem 1rem;background:#f6f8f7}code{overflow-wrap:anywhere}
@media print{body{margin:0;max-width:none}@page{margin:18mm}}`;

/** `head`: as `VerifiedPack` has it. */
export function evidencePage(head: Node, found: PackVerification): string {
  const title = `Environmental receipts of ${head.account}`;
  const period = isNode(head.temporal) ? `${head.temporal.start} to before ${head.temporal.end}` : 'chosen receipts';
  const rows = rowsOf(head.aggregates);
  const real = rows.filter(({ simulated }) => simulated !== true);
  const parts = [
    `<h1>${escaped(title)}</h1><p>${escaped(period)}. Pack <code>${escaped(head.id)}</code>, issued ${escaped(head.issued)}.</p>`,
    verdict(found),
    chartsOf(real, 'Calls'),
    real.length < rows.length
      ? chartsOf(
          rows.filter(({ simulated }) => simulated === true),
          'Simulated calls',
        )
      : '',
    coverageOf(head),
    leftOut(found),
    table('Methods', ['Name', 'Version', 'Hash'], rowsOf(head.methodologies), ['name', 'version', 'hash']),
    table('Sources', ['Name', 'Version', 'Licence', 'Where'], rowsOf(head.sources).map(namedLicence), [
      'name',
      'version',
      'licence',
      'locator',
    ]),
    `<h2>How to check it</h2><p>This page was made from the pack and proves nothing by itself. With the pack and the keys of the gateway
    (<code>/.well-known/jwks.json</code>), had by a way that you trust: <code>./gw verify PACK --jwks jwks.json</code>. It makes all sums again, and with
    lineages each number.</p>`,
  ];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${style}</style></head><body>${parts.join('\n')}</body></html>\n`;
}

const signers: Readonly<Record<PackVerification['signature'], string>> = {
  trusted: 'It was signed by a key that whoever made this page trusts.',
  unauthenticated: 'Nobody said whose signature to trust: anybody could have made it.',
  unknown_key: 'It was signed by none of the keys that whoever made this page trusts.',
  invalid: 'Its signature does not fit.',
};

function signerText(found: PackVerification): string {
  const name = nameToTrust(found);
  if (name === null) return signers[found.signature];
  return `Nobody said whose signature to trust. Its certificate names ${escaped(name)}.`;
}

function verdict(found: PackVerification): string {
  const { log, mismatches, onlyStated = 0, receipts, recomputed, signature, untold = 0 } = found;
  const { pins } = found.routing;
  const faults = mismatches.length + untold;
  const asked = log.late.length + log.unlogged.length + log.changed.length + log.untold;
  const isGood = faults + asked + (log.whole?.open.length ?? 0) === 0 && signature === 'trusted';
  const told = mismatches
    .slice(0, 20)
    .map(
      ({ expected, field, found, receipt }) =>
        `<li>${escaped(`${receipt ?? 'pack'} ${field}: expected ${expected}, found ${found}`)}</li>`,
    );
  return `<div class="${isGood ? 'good' : 'bad'}"><p>${[signerText(found), ...sealWords(found).map((each) => `It is ${escaped(each)}.`)].join(' ')} ${faults === 0 ? 'All that follows from something else in it holds.' : `${faults} things in it do not hold.`}
  ${receipts} receipts; the numbers of ${recomputed} were made again from their lineages;${onlyStated === 0 ? '' : ` those of ${onlyStated} are only stated, without a lineage;`} ${log.proven} are proven to be in the log of the account. Whole: ${escaped(wholeText(found))}.${pins.asked === 0 ? '' : ` Of ${pins.asked} calls that asked for a region, ${pins.held} were served there.`}${asked === 0 ? '' : ` ${asked} have to be asked about: they came late, are not in the log although they should be, or were settled.`}</p>${told.length > 0 ? `<ul>${told.join('')}</ul>` : ''}</div>`;
}

interface Quantity {
  readonly name: string;
  readonly unit: string;
  readonly fields: readonly [value: string, low: string, high: string];
}
const energy: Quantity = { name: 'Energy', unit: 'Wh', fields: ['energy_wh', 'energy_low_wh', 'energy_high_wh'] };
const carbon: Quantity = { name: 'Carbon', unit: 'g CO2e', fields: ['carbon_g', 'carbon_low_g', 'carbon_high_g'] };

function chartsOf(rows: readonly Node[], what: string): string {
  if (rows.length === 0) return `<h2>${what}</h2><p>None.</p>`;
  const bases = [...new Set(rows.map(({ grid_basis }) => grid_basis ?? null))];
  const ofBasis = bases.map((basis) => {
    const members = rows.filter((row) => (row.grid_basis ?? null) === basis && row.carbon_g !== null);
    return members.length === 0 ? '' : charts(members, carbon, `${what}, grid counted as ${basis ?? 'unknown'}`);
  });
  const known = rows.filter((row) => row.energy_wh !== null);
  const unknown = rows.reduce((sum, { missing }) => sum + numberOf(isNode(missing) ? missing.energy_wh : 0), 0);
  const note = unknown === 0 ? '' : `<p>Of ${unknown} calls the energy is unknown; they are in no chart.</p>`;
  return charts(known, energy, what) + note + ofBasis.join('');
}

function charts(rows: readonly Node[], quantity: Quantity, what: string): string {
  if (rows.length === 0) return '';
  const { name, unit } = quantity;
  const total = groupsOf(rows, quantity, () => 'total')[0];
  const by = (field: string) =>
    groupsOf(rows, quantity, (row) => String(row[field] ?? 'unknown')).toSorted((a, b) => b.value - a.value);
  const days = by('date').toSorted((a, b) => (a.label < b.label ? -1 : 1));
  const said =
    total && `${shortNumber(total.value)} ${unit}, between ${shortNumber(total.low)} and ${shortNumber(total.high)}`;
  return `<h2>${escaped(`${name}: ${what}`)}</h2><p>${said}.</p>
  <h3>By day</h3>${lineChart(`${name} by day`, unit, days)}
  <h3>By model</h3>${barChart(`${name} by model`, unit, most(by('model')))}
  <h3>By region</h3>${barChart(`${name} by region`, unit, most(by('region')))}`;
}

const shownBars = 20;
function most(points: readonly Point[]): Point[] {
  const others = points.slice(shownBars);
  if (others.length === 0) return [...points];
  const sum = (of: (point: Point) => number) => others.reduce((all, point) => all + of(point), 0);
  const rest = { value: sum(({ value }) => value), low: sum(({ low }) => low), high: sum(({ high }) => high) };
  return [...points.slice(0, shownBars), { label: `${others.length} others`, ...rest }];
}

function groupsOf(rows: readonly Node[], { fields }: Quantity, labelOf: (row: Node) => string): Point[] {
  const groups = new Map<string, { label: string; value: number; low: number; high: number }>();
  const [value, low, high] = fields;
  for (const row of rows) {
    const label = labelOf(row);
    const group = groups.get(label) ?? { label, value: 0, low: 0, high: 0 };
    group.value += numberOf(row[value]);
    // A value without bounds counts as exact, rather than being left out of the bounds.
    group.low += numberOf(row[low] ?? row[value]);
    group.high += numberOf(row[high] ?? row[value]);
    groups.set(label, group);
  }
  return [...groups.values()];
}

function coverageOf({ coverage }: Node): string {
  if (!isNode(coverage)) return '';
  const counted = isNode(coverage.listed) ? coverage.listed : {};
  const kinds = ['measured', 'modelled', 'estimated', 'degraded'].map((kind) => {
    const { energy_wh = null, requests = 0 } = isNode(coverage[kind]) ? coverage[kind] : {};
    return [kind, requests, energy_wh === null ? 'unknown' : `${shortNumber(Number(energy_wh))} Wh`];
  });
  const lists = ['simulated', 'restated', 'superseded'].map((kind) => [kind, counted[kind], '']);
  const rows = [...kinds, ...lists, ['left out', coverage.excluded, '']];
  return tableOf('Coverage', ['Receipts that are', 'Number', 'Energy'], rows);
}

const namedLicence = (row: Node): Node => ({ ...row, licence: licenceName(row.licence) });

const shownRows = 200;
function table(
  title: string,
  heads: readonly string[],
  rows: readonly Node[],
  fields: readonly string[],
  untold = 0,
): string {
  const cells = rows.slice(0, shownRows).map((row) => fields.map((field) => row[field] ?? ''));
  const more = rows.length + untold - cells.length;
  const note = more > 0 ? `<p>And ${more} more, in the pack.</p>` : '';
  return rows.length === 0 ? '' : tableOf(title, heads, cells) + note;
}

const leftOut = ({ excluded, untoldExcluded }: PackVerification): string =>
  table(
    'Left out',
    ['Receipt', 'Version', 'Reason'],
    excluded.map((each) => ({ ...each })),
    ['receipt_id', 'version', 'reason'],
    untoldExcluded,
  );

const tableOf = (title: string, heads: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  `<h2>${escaped(title)}</h2><table><tr>${heads.map((head) => `<th>${escaped(head)}</th>`).join('')}</tr>${rows
    .map((cells) => `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`)
    .join('')}</table>`;
