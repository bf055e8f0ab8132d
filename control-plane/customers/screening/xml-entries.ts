/**
 * Cuts an XML file into its entries, from pieces of it in latin1, and parses each by itself.
 *
 * Invariant: only elements, attributes and the entities that XML itself has are known; there is no document type that
 * could define others, since it would stand outside of the entries. A file whose root element does not end is not
 * whole.
 */
import { defined } from '@gw/contract/internal/defined';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { decodeText, ListError, type Sink } from './list-stream.ts';

const longestEntry = 4 * 1024 * 1024;
const longestFrame = 64 * 1024;

export interface XmlForm {
  /** The names of the root element, and of the entries, which are its children. */
  readonly root: string;
  readonly entry: string;
  /** Elements that can occur several times in an entry, and are read as arrays. */
  readonly lists: readonly string[];
}

/** Calls `take` with each entry, parsed; text is not decoded (`decodeEntities`). Throws ListErrors. */
export class XmlEntries implements Sink {
  readonly #form: XmlForm;
  readonly #take: (entry: unknown) => void;
  readonly #parser: XMLParser;
  readonly #begin: RegExp;
  #text = '';
  #head: string | null = null;

  constructor(form: XmlForm, take: (entry: unknown) => void) {
    this.#form = form;
    this.#take = take;
    this.#begin = new RegExp(`<${form.entry}[\\s>]`);
    this.#parser = new XMLParser({
      ignoreAttributes: false,
      attributeNamePrefix: '',
      removeNSPrefix: true,
      processEntities: false,
      parseTagValue: false,
      parseAttributeValue: false,
      isArray: (name) => form.lists.includes(name),
    });
  }

  push(text: string): void {
    this.#text += text;
    const close = `</${this.#form.entry}>`;
    let from = 0;
    for (;;) {
      const end = this.#text.indexOf(close, from);
      if (end === -1) break;
      this.#entry(this.#text.slice(from, end + close.length));
      from = end + close.length;
    }
    this.#text = this.#text.slice(from);
    if (this.#text.length > longestEntry) throw new ListError('has an entry that is too long, or none');
  }

  end(): void {
    const { root, entry } = this.#form;
    if (!new RegExp(`^\\s*</(?:\\w+:)?${root}>\\s*$`).test(this.#text))
      throw new ListError(`does not end with </${root}>: it is not whole`);
    if (this.#head === null) throw new ListError(`has no <${entry}>`);
  }

  /** The text before the first entry. Throws before `end` has made sure that there is one. */
  get head(): string {
    return defined(this.#head, 'What stands before the first entry');
  }

  #entry(text: string): void {
    const { root, entry } = this.#form;
    const start = this.#begin.exec(text)?.index ?? -1;
    const before = text.slice(0, Math.max(0, start));
    if (start === -1 || before.length > longestFrame)
      throw new ListError(`has an end of <${entry}> without a beginning`);
    if (this.#head === null) {
      if (!new RegExp(`<(?:\\w+:)?${root}[\\s>]`).test(before)) throw new ListError(`has no <${root}>`);
      this.#head = before;
    } else if (!/^(?:\s|<!--(?:[^-]|-(?!->))*-->)*$/.test(before))
      throw new ListError(`has something between its entries`);
    const decoded = decodeText(text.slice(start));
    if (XMLValidator.validate(decoded) !== true) throw new ListError('has an entry that is not XML');
    const parsed: unknown = this.#parser.parse(decoded);
    this.#take(typeof parsed === 'object' && parsed !== null ? Object.values(parsed)[0] : null);
  }
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Decodes entities. Throws a ListError for one that XML does not have, since the name would be another. */
export const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w*));?/gi, (whole, decimal, hex, name) => {
    const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(hex, 16) : null;
    const meant = code === null ? named[name] : code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
    if (meant === undefined || !whole.endsWith(';')) throw new ListError('has an entity that XML does not know');
    return meant;
  });
