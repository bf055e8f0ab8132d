/**
 * The facts of a call as JSON, and the digest that binds its receipt to them.
 *
 * The parts that calls share are made into text once.
 */
import { hash } from 'node:crypto';
import type { CallFacts, GridReading } from '@gw/methodology/assess';
import { digestedText, type PartTexts, partTexts, type StatedCall } from '@gw/methodology/lineage-digest';

/** Keeps the text of a part of the catalogue, which is never changed after it was made. */
function keptText<Part extends object>(textOf: (part: Part) => string): (part: Part) => string {
  const texts = new WeakMap<Part, string>();
  return (part) => {
    let text = texts.get(part);
    if (text === undefined) {
      text = textOf(part);
      texts.set(part, text);
    }
    return text;
  };
}
const catalogueText = keptText<object>(JSON.stringify);
const gridText = keptText<GridReading>(partTexts.grid);
const digestedTexts: PartTexts = {
  model: keptText(partTexts.model),
  site: keptText(partTexts.site),
  grid: (grid) => (grid === null ? 'null' : gridText(grid)),
};

/** As `lineageDigest` of the methodology, by the hash function of this machine. */
export const digestOfCall = (call: StatedCall, facts: CallFacts, methodologyHash: string): string =>
  `sha256:${hash('sha256', digestedText(call, facts, methodologyHash, digestedTexts))}`;

export function factsText({ model, site, grid, ...call }: CallFacts): string {
  const catalogue = `"model":${catalogueText(model)},"site":${catalogueText(site)},"grid":${grid === null ? 'null' : catalogueText(grid)}`;
  return `${JSON.stringify(call).slice(0, -1)},${catalogue}}`;
}
