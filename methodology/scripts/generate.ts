/**
 * Compiles the documents of the methodologies (compile.mjs runs it): writes `generated/`, where each calculation is one function,
 * and the numbers of a receipt are listed in the order of its schema. The generated code is read like any other, but never
 * changed by hand.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { type Receipt, receiptSchema } from '@gw/contract/receipt';
import { calculations, programName } from '../choice/calculation.ts';
import { gridPlan, planOf } from '../choice/plan.ts';
import { wordFields } from '../choice/words.ts';
import { type FactorKeys, factorOf, noKeys } from '../documents/factor-table.ts';
import { standIns } from '../documents/factors.ts';
import { measuredRatios, type Serving } from '../documents/measured-ratios.ts';
import { type Methodology, methodologyIds, methodologyOf } from '../documents/methodologies.ts';
import { variable, type WrittenProgram, whose, written } from './written-program.ts';

const classes = Object.keys(standIns) as readonly (keyof typeof standIns)[];
const servings = Object.keys(measuredRatios) as readonly Serving[];

const figureNames = (programs: readonly WrittenProgram[]): Set<string> =>
  new Set(programs.flatMap(({ figures }) => [...figures.keys()]));

type Field = keyof Receipt;
const fields = Object.keys(receiptSchema.shape) as readonly Field[];
/** The only number that a receipt has as a word. */
const matchNumber = 'grid_temporal_match_number';
const isField = (name: string): name is Field => (fields as readonly string[]).includes(name);
const takes = (name: string, value: number | null | undefined): boolean =>
  isField(name) && receiptSchema.shape[name].safeParse(value).success;

const inOrder = (figures: ReadonlySet<string>): string[] => {
  const stray = [...figures].filter((name) => !isField(name) && name !== matchNumber);
  if (stray.length > 0) throw new Error(`The receipt's schema has no field ${stray.join(', ')}`);
  return [...fields.filter((name) => figures.has(name)), matchNumber];
};

/** Steps by which a measured figure is judged. Programs return them beside the receipt's numbers. */
const judged = [
  'accelerator_energy',
  'request_it_energy',
  'request_energy',
  'modelled_energy',
  'modelled_smallest',
  'modelled_largest',
  'least_believed',
  'most_believed',
];

/** A number that a program does not give is null, or absent where the schema allows it and no program of the methodology gives it. */
const without = (name: string, ofMethod: ReadonlySet<string>): string =>
  takes(name, null) && (ofMethod.has(name) || !takes(name, undefined)) ? 'null' : 'undefined';

/** How old a grid value is and how well it fits, for those who have no call: the two steps that need nothing but the reading. */
function gridFunctionText(method: Methodology): string {
  const steps = gridPlan(method);
  const { lines, reads } = written('gridSteps', steps, method);
  return [
    'export function gridSteps(f: GridInputs) {',
    ...[
      `const { ${[...reads].join(', ')} } = f;`,
      ...lines,
      `return { ${steps.map(({ key }) => key).join(', ')} };`,
    ].map((line) => `  ${line}`),
    '}',
  ].join('\n');
}

function functionText(
  program: WrittenProgram,
  method: Methodology,
  names: readonly string[],
  ofMethod: ReadonlySet<string>,
) {
  const { figures, lines, name, reads, steps } = program;
  const from = (whom: ReturnType<typeof whose>) => [...reads].filter((each) => whose(each, method) === whom);
  const taken = (list: readonly string[], of: string) =>
    list.length === 0 ? [] : [`const { ${list.join(', ')} } = ${of};`];
  const inputs = [...reads].filter(
    (each) => whose(each.replace(/_(min|max)$/, ''), method) === null && whose(each, method) === null,
  );
  const keys = new Set(steps.map(({ key }) => key));
  const returned = [
    ...names.map((each) => (figures.has(each) ? each : `${each}: ${without(each, ofMethod)}`)),
    ...judged.map((each) => (keys.has(each) ? each : `${each}: undefined`)),
  ];
  const traced = steps.map(({ key }) => (key.includes('@') ? `'${key}': ${variable(key)}` : key));
  return [
    `function ${name}(f: Inputs, c: Calculation, trace: Trace | null): Results {`,
    ...[
      ...taken(inputs, 'f'),
      ...taken(from('class'), 'classFactors(c)'),
      ...taken(from('serving'), 'servingFactors(c)'),
      ...lines,
      `if (trace !== null) Object.assign(trace, { ${traced.join(', ')} });`,
      `return { ${returned.join(', ')} };`,
    ].map((line) => `  ${line}`),
    '}',
  ].join('\n');
}

const tableText = (names: readonly string[], lookUp: (name: string) => number | null | undefined): string =>
  `{ ${names.map((name) => `${name}: ${lookUp(name)}`).join(', ')} }`;

const servingText = (rows: readonly string[]): string => `
const factorsOfServing = {
${rows.join('\n')}
} as const;

function servingFactors({ serving }: Calculation) {
  if (serving === null) throw new TypeError('Nothing is modelled in this calculation.');
  return factorsOfServing[serving];
}
`;

function moduleText(method: Methodology, programs: readonly WrittenProgram[], names: readonly string[]): string {
  const ofMethod = figureNames(programs);
  const reads = [...new Set(programs.flatMap((each) => [...each.reads]))].sort();
  const of = (whom: ReturnType<typeof whose>) => reads.filter((name) => whose(name, method) === whom);
  const valueIn = (keys: Partial<FactorKeys>) => (name: string) =>
    factorOf(name, method, { ...noKeys, ...keys })?.value;
  const constants = of('all').map((name) => {
    const factor = factorOf(name, method, noKeys);
    return `/** ${factor?.unit} */\nconst ${name} = ${factor?.value};`;
  });
  const ofClasses = classes.map((each) => `  ${each}: ${tableText(of('class'), valueIn({ model_class: each }))},`);
  const ofServing = servings.map((each) => `  ${each}: ${tableText(of('serving'), valueIn({ serving: each }))},`);
  const bodies = programs.map((each) => functionText(each, method, names, ofMethod));
  if (method.isOwn) bodies.unshift(gridFunctionText(method));
  const code = bodies.join('\n');
  const used = (from: readonly string[]) => from.filter((name) => code.includes(`${name}(`)).join(', ');
  return `/**
 * Compiled from the document of ${method.id}:
 * ${method.hash}
 *
 * Made by scripts/generate.ts, and not to be changed by hand. Each function is one calculation; each line is one step of it, as the
 * formula in the document says.
 */
import type { ${method.isOwn ? 'GridInputs, ' : ''}Inputs } from '../facts/inputs.ts';
import { combined } from '../language/combined.ts';
import { ${used(['decimal', 'decimalSum', 'partOf'])} } from '../language/decimal.ts';
import { exp } from '../language/elementary.ts';
import { type Calculation, ${used(['isEstimated'])} } from '../choice/calculation.ts';
import type { Program, Results, Trace } from './receipt.ts';

export const documentHash = '${method.hash}';

${constants.join('\n')}

const factorsOfClasses = {
${ofClasses.join('\n')}
} as const;

function classFactors({ model_class }: Calculation) {
  if (model_class === null) throw new TypeError('This calculation has no class.');
  return factorsOfClasses[model_class];
}
${of('serving').length === 0 ? '' : servingText(ofServing)}
${bodies.join('\n\n')}

export const programs: Readonly<Record<string, Program>> = {
${programs.map(({ name }) => `  ${name},`).join('\n')}
};
`
    .replace(/^import \{ (combined|exp) \} from .*\n/gm, (line, name) => (code.includes(`${name}(`) ? line : ''))
    .replace('type Calculation,  }', 'type Calculation }');
}

function receiptText(programs: ReadonlyMap<string, readonly WrittenProgram[]>, names: readonly string[]): string {
  const types = names.map((name) => {
    const perMethod = [...programs.values()].map((list) => ({ list, has: figureNames(list) }));
    const absent = perMethod.flatMap(({ has, list }) =>
      list.filter(({ figures }) => !figures.has(name)).map(() => without(name, has)),
    );
    const isNullable =
      absent.includes('null') || [...programs.values()].flat().some(({ figures }) => figures.get(name) === true);
    const isOptional = absent.includes('undefined');
    return `  readonly ${name}${isOptional ? '?' : ''}: number${isNullable ? ' | null' : ''}${isOptional ? ' | undefined' : ''};`;
  });
  const printed = fields.filter((name) => names.includes(name) || wordFields.includes(name));
  const entries = printed.map((name) => `  ${name}: ${names.includes(name) ? 'v' : 'w'}.${name},`);
  return `/**
 * The numbers of a receipt, in the order of its schema.
 *
 * Made by scripts/generate.ts from the documents of the methodologies and the schema, and not to be changed by hand.
 */
import type { Calculation } from '../choice/calculation.ts';
import type { Words } from '../choice/words.ts';
import type { Inputs } from '../facts/inputs.ts';

/** Null: not known, or outside the boundary. Absent: the methodology, or this kind of call, has no such number. */
export interface Figures {
${types.join('\n')}
}

/** The numbers of a receipt, with the steps by which a measured figure is judged; absent: not in this calculation. */
export interface Results extends Figures {
${judged.map((name) => `  readonly ${name}?: number | null | undefined;`).join('\n')}
}

/** The value of each step of a calculation; null: unknown. */
export type Trace = Record<string, number | null>;

/** One calculation. Its steps are written into the trace, if there is one. */
export type Program = (f: Inputs, c: Calculation, trace: Trace | null) => Results;

/** Every field of a receipt that is a number and need not be whole. */
export const amounts = [
${fields
  .filter((name) => takes(name, 1.5))
  .map((name) => `  '${name}',`)
  .join('\n')}
] as const;

export type Impact = Words & Omit<Figures, '${matchNumber}'>;

/** One literal, in which an absent number is undefined: an object that is put together costs more than the calculation. */
export const impactOf = (w: Words, v: Figures): Impact => ({
${entries.join('\n')}
});
`;
}

/** File name → text. */
export function generated(): ReadonlyMap<string, string> {
  const programs = new Map(
    methodologyIds.map((id) => {
      const method = methodologyOf(id);
      const possible = calculations.filter(
        ({ measured, model_kind }) => method.isOwn || (measured === null && model_kind === 'chat'),
      );
      const byName = new Map(possible.map((each) => [programName(each), each]));
      return [id, [...byName].map(([name, each]) => written(name, planOf(each, method), method))];
    }),
  );
  const names = inOrder(figureNames([...programs.values()].flat()));
  return new Map([
    ...[...programs].map(([id, list]) => [`${id}.ts`, moduleText(methodologyOf(id), list, names)] as const),
    ['receipt.ts', receiptText(programs, names)] as const,
  ]);
}

export function writeGenerated(): void {
  const folder = new URL('../generated/', import.meta.url);
  // A program of a methodology that is gone would not compile any more.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of generated()) writeFileSync(new URL(name, folder), text);
}
