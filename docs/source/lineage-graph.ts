/** A lineage as a graph in mermaid: which step takes which step's result. */
import type { Lineage, LineageStep } from '@gw/methodology/lineage';
import { cell } from './numbers.ts';

const isField = (id: string): boolean => /(_wh|_g|_ml|_g_per_kwh|_minutes|_per_request|^pue)$/.test(id);

/** A part of a sum depends on the others only by the place to which all are rounded; here it comes from its own step. */
const ownPart = /^part12\((\d+), (.+)\)$/;

function sourcesOf({ evaluated_as: evaluatedAs, formula, inputs }: LineageStep): string[] {
  const part = ownPart.exec(evaluatedAs ?? formula);
  const own = part?.[2]?.split(', ')[Number(part[1]) - 1];
  return inputs.filter((id) => (own === undefined || id === own) && isCentral(id));
}

const isCentral = (id: string): boolean => !id.includes('@') && !/_(low|high|least|most|ratio|number)(_|$)/.test(id);

/** The steps of the value; those of its bounds are the same again with other factors. */
export function lineageGraph({ steps }: Lineage): string {
  const central = steps.filter(({ id }) => isCentral(id));
  const ids = new Set(central.map(({ id }) => id));
  const edges = central.flatMap((step) =>
    sourcesOf(step)
      .filter((from) => ids.has(from))
      .map((from) => ({ from, to: step.id })),
  );
  const linked = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const nodes = central
    .filter(({ id }) => linked.has(id))
    .map(({ id, output: { unit, value } }) => {
      const label = `${id}<br/>${cell(value)}${unit === '1' ? '' : ` ${unit}`}`;
      return isField(id) ? `  ${id}(["${label}"]):::field` : `  ${id}["${label}"]`;
    });
  const arrows = edges.map(({ from, to }) => `  ${from} --> ${to}`);
  return ['flowchart LR', ...nodes, ...arrows, '  classDef field stroke-width:3px'].join('\n');
}
