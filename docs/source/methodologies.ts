/** The tables of methodology/methodologies.md: the versions, and how their formulas are written. */
import { functionNames, levels } from '@gw/methodology/internals/language/parse';
import { defaultMethodology, methodologyIds, methodologyOf } from '@gw/methodology/methodologies';
import { versions } from '@gw/methodology/versions';
import { tableOf } from './numbers.ts';

export function methodologiesTable(): string {
  const rows = methodologyIds.map((id) => {
    const { hash, version } = methodologyOf(id);
    return [`\`${id}\`${id === defaultMethodology ? ' (default)' : ''}`, version, versions[id].about, `\`${hash}\``];
  });
  return tableOf(['Id', 'Version', 'What it is', 'Hash'], rows);
}

export function methodologyVersions(): string {
  const changed = methodologyIds.filter((id) => versions[id].changes.length > 0);
  const sections = changed.map((id) => {
    const rows = versions[id].changes.map(({ numbers, parts, what, why }) => [
      what,
      numbers,
      why,
      parts.map((part) => `\`${part}\``).join(', '),
    ]);
    return `### ${id}\n\n${tableOf(['What', 'In which number', 'Why', 'In the document'], rows)}`;
  });
  return sections.join('\n\n');
}

/** A rule for each level of operators, from the list that the evaluation itself goes by. */
export function formulaGrammar(): string {
  const names = [...levels.map((_, level) => `level${level + 1}`), 'operand'];
  const [loosest] = names;
  const binary = levels.map((symbols, level) => {
    const next = names[level + 1];
    const either = symbols.map((symbol) => `"${symbol}"`).join(' | ');
    return [names[level], `${next} { ${symbols.length > 1 ? `( ${either} )` : either} ${next} }`];
  });
  const rules = [
    ['formula', `${loosest} [ "?" formula ":" formula ]`],
    ...binary,
    ['operand', 'number | "unknown" | call | name | "(" formula ")"'],
    ['call', 'name "(" formula { "," formula } ")"'],
    ['number', 'digit { digit | "." } [ "e" digit { digit } ]'],
    ['name', '( letter | "_" ) { letter | digit | "_" | "@" }'],
  ];
  return rules.map(([name = '', rule]) => `${name.padEnd(8)} = ${rule}`).join('\n');
}

const asInMathematics: Readonly<Record<string, string>> = {
  min: 'the least',
  max: 'the greatest',
  exp: 'e to the power of a',
  log2: 'the logarithm to the base 2',
  ceil: 'the least whole number that is not less',
  round: 'the nearest whole number, of two the greater',
};

export function formulaFunctionsTable(): string {
  const published = JSON.parse(methodologyOf(defaultMethodology).document) as { functions: Record<string, string> };
  const texts: Readonly<Record<string, string>> = { ...asInMathematics, ...published.functions };
  const rows = functionNames.map((name) => {
    const text = texts[name];
    if (text === undefined) throw new Error(`Nothing says what the function ${name} does.`);
    return [`\`${name}\``, text];
  });
  return tableOf(['Function', 'Is'], rows);
}
