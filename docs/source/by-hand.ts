/**
 * The calculation of one receipt as lines for a pocket calculator.
 *
 * Invariant: a line's result is that of the line as it is printed, so nothing hides in digits that a reader cannot see.
 * For a parametric comprehensive receipt of a model with known counts.
 */
import type { Lineage } from '@gw/methodology/lineage';
import { short, tableOf } from './numbers.ts';

interface Line {
  readonly what: string;
  /** × − ^ and brackets; `e^(x)` is the exponential. */
  readonly text: string;
  readonly unit: string;
}

/** Evaluates the text of a line: numbers, + − × / and brackets, and e^( ). */
function evaluated(text: string): number {
  const tokens = text.match(/\d[\d.]*(?:e-?\d+)?|e\^|[-+−×/()]/g) ?? [];
  let at = 0;
  const sum = (): number => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '−') value += (tokens[at++] === '+' ? 1 : -1) * product();
    return value;
  };
  const product = (): number => {
    let value = operand();
    while (tokens[at] === '×' || tokens[at] === '/') value *= tokens[at++] === '×' ? operand() : 1 / operand();
    return value;
  };
  const operand = (): number => {
    const token = tokens[at++];
    if (token === '−') return -operand();
    if (token === 'e^') return Math.exp(operand());
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

/** The value of an input or a factor of a step, as it is printed. */
function operandsOf(lineage: Lineage) {
  return (step: string, name: string): string => {
    const found = lineage.steps.find(({ id }) => id === step);
    const operand = [...(found?.inputs ?? []), ...(found?.factors ?? [])].find((each) => each.name === name);
    if (operand?.value === null || operand === undefined) throw new Error(`${step} has no ${name}.`);
    return printed(operand.value);
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
  const output = of('gpu_energy', 'T_out');
  const active = of('gpu_energy', 'P_active');
  const batch = of('gpu_energy', 'B');
  const servers = of('server_energy', 'server_gpus');
  const input = line(
    'tokens to read',
    'tokens',
    `${of('charged_input_tokens', 'T_in')} − ${of('charged_input_tokens', 'T_cached')}`,
  );
  const reading = line(
    'reading takes',
    'GPU-seconds',
    `${input} × ${of('prefill_time', 'flop_per_parameter_and_token')} × ${active} × 1e9 / (${of('prefill_time', 'peak_flop_per_s')} × ${of('prefill_time', 'utilisation')})`,
  );
  const fitted = line(
    'writing takes, by the fit',
    's',
    `${output} × (${of('generation_latency', 'alpha_L')} × ${active} + ${of('generation_latency', 'beta_L')} × ${batch} + ${of('generation_latency', 'gamma_L')})`,
  );
  const upstream = of('generation_latency', 'upstream_time');
  const writing = Number(upstream) < Number(fitted) ? upstream : fitted;
  const memory = line(
    'memory for the weights',
    'GB',
    `${of('model_required_memory', 'memory_overhead')} × ${of('model_required_memory', 'P_total')} × ${of('model_required_memory', 'weight_bits')} / 8`,
  );
  const perGpu = of('gpu_required_count', 'gpu_memory');
  const gpus = String(2 ** Math.ceil(Math.log2(Math.max(1, Math.ceil(Number(memory) / Number(perGpu))))));
  const writes = line(
    `writing, on ${gpus} GPUs (the power of two that holds it in ${perGpu} GB each)`,
    'Wh',
    `${gpus} × ${output} × (${of('gpu_energy', 'alpha_E')} × e^(${of('gpu_energy', 'beta_E')} × ${batch}) × ${active} + ${of('gpu_energy', 'gamma_E')})`,
  );
  const reads = line('reading', 'Wh', `${reading} / 3600 × ${of('prefill_gpu_energy', 'gpu_power')}`);
  const accelerator = line('**accelerators**', 'Wh', `${writes} + ${reads}`);
  const power = of('server_energy', 'server_power');
  const host = line(
    `**host**, in the ${writing} s of writing${writing === upstream ? ', which is what the provider took' : ''}`,
    'Wh',
    `${writing} / 3600 × ${power} × ${gpus} / ${servers} / ${batch} + ${reading} / 3600 × ${power} / ${servers}`,
  );
  const idle = line('**idle**', 'Wh', `${of('idle_energy', 'k_idle')} × (${accelerator} + ${host})`);
  const it = line('all computers', 'Wh', `${accelerator} + ${host} + ${idle}`);
  const pue = of('overhead_energy', 'PUE');
  const overhead = line('**overhead**', 'Wh', `(${pue} − 1) × ${it}`);
  const energy = line('**energy**', 'Wh', `${it} + ${overhead}`);
  const intensity = of('request_usage_gwp', 'grid_intensity');
  const operation = line('**carbon, operation**', 'gCO2e', `${energy} / 1000 × ${intensity}`);
  const time = line('hardware is taken', 'GPU-seconds', `${writing} × ${gpus} / ${batch} + ${reading}`);
  const embodied = line(
    '**carbon, embodied**',
    'gCO2e',
    `${time} / ${of('request_embodied_gwp', 'lifespan')} × (${of('request_embodied_gwp', 'server_gwp')} / ${servers} + ${of('request_embodied_gwp', 'gpu_gwp')}) × 1000`,
  );
  line('**carbon**', 'gCO2e', `${operation} + ${embodied}`);
  const water = `${of('request_usage_wcf', 'WUE_site')} + ${pue} × ${of('request_usage_wcf', 'WUE_grid')}`;
  line('**water**', 'mL', `${it} × (${water})`);
  line('narrow: carbon of the accelerators alone', 'gCO2e', `${accelerator} / 1000 × ${intensity}`);
  const rows = lines.map(({ what, text, result, unit }) => [what, text, `${result} ${unit}`]);
  return tableOf(['', 'Type this', 'It gives'], rows);
}
