/**
 * The calculation of one receipt as lines for a pocket calculator.
 *
 * Invariant: a line's result is that of the line as it is printed, so nothing hides in digits that a reader cannot see.
 * For a parametric comprehensive receipt of a dense model with known counts, of whose deployment nothing is stated.
 */
import type { Lineage } from '@gw/methodology/lineage';
import { short, tableOf } from './numbers.ts';

interface Line {
  readonly what: string;
  /** × − ^ and brackets. */
  readonly text: string;
  readonly unit: string;
}

/** Evaluates the text of a line: numbers, + − × / ^ and brackets. */
function evaluated(text: string): number {
  const tokens = text.match(/\d[\d.]*(?:e-?\d+)?|[-^+−×/()]/g) ?? [];
  let at = 0;
  const sum = (): number => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '−') value += (tokens[at++] === '+' ? 1 : -1) * product();
    return value;
  };
  const product = (): number => {
    let value = power();
    while (tokens[at] === '×' || tokens[at] === '/') value *= tokens[at++] === '×' ? power() : 1 / power();
    return value;
  };
  const power = (): number => {
    const base = operand();
    if (tokens[at] !== '^') return base;
    at++;
    return base ** operand();
  };
  const operand = (): number => {
    const token = tokens[at++];
    if (token === '−') return -operand();
    if (token !== '(') return Number(token);
    const value = sum();
    at++;
    return value;
  };
  return sum();
}

/** Nine digits; the lines have room for no more. */
function printed(value: number): string {
  const text = value >= 1e9 ? value.toExponential().replace('+', '') : short(value, 9);
  return text.replace(/^-/, '−');
}

/** The value of an input, a factor or a step, as it is printed. */
function operandsOf({ factors, inputs, steps }: Lineage) {
  const values = new Map([
    ...[...inputs, ...factors].map(({ name, value }) => [name, value] as const),
    ...steps.map(({ id, output }) => [id, output.value] as const),
  ]);
  return (name: string): string => {
    const value = values.get(name) ?? null;
    if (value === null) throw new Error(`There is no ${name}.`);
    return printed(value);
  };
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one calculation from its first line to its last, as a reader does it by hand.
export function byHandTable(lineage: Lineage): string {
  const of = operandsOf(lineage);
  const lines: (Line & { readonly result: string })[] = [];
  const line = (what: string, unit: string, text: string): string => {
    const result = short(evaluated(text));
    lines.push({ what, unit, text, result });
    return result;
  };
  const [output, input, active, total] = [of('T_out'), of('T_in'), of('P_active'), of('P_total')];
  const [bits, requests] = [of('assumed_bits'), of('assumed_concurrency')];
  const read = line(
    `weights that a token reads; ${requests} requests share those of a model that is dense`,
    'GB',
    `${total} × ${bits} / 8 / ${requests}`,
  );
  const root = `(${active} × ${total})`;
  const context = line('context that it reads', '', `(${input} + ${output} / 2) / 1000 × ${root}^(1 / 3)`);
  const per = (by: string) => ['weights', 'operations', 'context', 'token'].map((what) => of(`${by}_${what}`));
  const sumOf = ([byWeights, byOperations, byContext, byToken]: readonly string[]) =>
    `${output} × (${byWeights} × ${read} + ${byOperations} × ${active} + ${byContext} × ${context} + ${byToken})`;
  const writes = line('writing', 'Wh', sumOf(per('e')));
  const writing = line('writing takes', 'GPU-seconds', sumOf(per('t')));
  const charged = line('tokens to read', 'tokens', `${input} − ${of('T_cached')}`);
  const [aspect, perWidth] = [of('aspect'), of('parameters_per_squared_width')];
  const attention = line(
    'operations with attention, by those without',
    '',
    `1 + (${input} + ${of('T_cached')}) × ${aspect} × (${root}^(1 / 2) × 1e9 / (${perWidth} × ${aspect} × ${aspect}))^(2 / 3) / (${active} × 1e9)`,
  );
  const reading = line(
    'reading takes',
    'GPU-seconds',
    `${charged} × ${of('flop_per_parameter_and_token')} × ${active} × 1e9 × ${attention} / (${of('peak_flop_per_s')} × ${of('utilisation')})`,
  );
  const reads = line('reading', 'Wh', `${reading} / 3600 × ${of('gpu_power')}`);
  const accelerator = line('**accelerators**', 'Wh', `${writes} + ${reads}`);
  const time = line('hardware is taken', 'GPU-seconds', `${writing} + ${reading}`);
  const servers = of('server_gpus');
  const host = line('**host**', 'Wh', `${time} / 3600 × ${of('server_power')} / ${servers}`);
  const idle = line('**idle**', 'Wh', `${of('k_idle')} × (${accelerator} + ${host})`);
  const it = line('all computers', 'Wh', `${accelerator} + ${host} + ${idle}`);
  const pue = of('PUE');
  const overhead = line('**overhead**', 'Wh', `(${pue} − 1) × ${it}`);
  const energy = line('**energy**', 'Wh', `${it} + ${overhead}`);
  const intensity = of('grid_intensity');
  const operation = line('**carbon, operation**', 'gCO2e', `${energy} / 1000 × ${intensity}`);
  const embodied = line(
    '**carbon, embodied**',
    'gCO2e',
    `${time} / ${of('lifespan')} × (${of('server_gwp')} / ${servers} + ${of('gpu_gwp')}) × 1000`,
  );
  line('**carbon**', 'gCO2e', `${operation} + ${embodied}`);
  const water = `${of('WUE_site')} + ${pue} × ${of('WUE_grid')}`;
  line('**water**', 'mL', `${it} × (${water})`);
  line('narrow: carbon of the accelerators alone', 'gCO2e', `${accelerator} / 1000 × ${intensity}`);
  const rows = lines.map(({ what, text, result, unit }) => [what, text, `${result} ${unit}`]);
  return tableOf(['', 'Type this', 'It gives'], rows);
}
