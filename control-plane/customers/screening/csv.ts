/**
 * Reads records of a CSV file from pieces of it, in latin1 as list-stream.ts gives them.
 *
 * Invariant: no record disappears inside of another. A quote opens a field only at its beginning (elsewhere it is a
 * letter, as some exports have it), a quoted field has no line break, and behind its closing quote stands nothing but
 * blanks; so a stray quote is a ListError and never swallows the records behind it. That no field is missing is for the
 * caller to check, by the number of columns.
 */
import { decodeText, ListError, type Sink } from './list-stream.ts';

const longestRecord = 1024 * 1024;

export class CsvRecords implements Sink {
  readonly #delimiter: string;
  readonly #take: (fields: readonly string[]) => void;
  #fields: string[] = [];
  #field = '';
  #length = 0;
  #state: 'start' | 'plain' | 'quoted' | 'quote' | 'closed' = 'start';
  /** Whether the file ends with the end of a record. */
  #ended = true;

  /** `take` is called with each record that is not empty, its fields decoded and trimmed. */
  constructor(delimiter: ',' | ';', take: (fields: readonly string[]) => void) {
    this.#delimiter = delimiter;
    this.#take = take;
  }

  push(text: string): void {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const letter = text[at];
      const isEnd = letter === '\n' || letter === '\r';
      const isSpecial = isEnd || letter === this.#delimiter;
      if (this.#state === 'quoted') {
        if (isEnd) throw new ListError('has a line break inside of quotes');
        if (letter !== '"') continue;
        this.#keep(text.slice(from, at));
        from = at + 1;
        this.#state = 'quote';
      } else if (this.#state === 'quote' && letter === '"') {
        this.#keep('"');
        from = at + 1;
        this.#state = 'quoted';
      } else if (this.#state === 'start' && letter === '"') {
        from = at + 1;
        this.#state = 'quoted';
        this.#ended = false;
      } else if (isSpecial) {
        this.#keep(text.slice(from, at));
        from = at + 1;
        this.#endField();
        if (isEnd) this.#endRecord();
      } else if (this.#state === 'quote' || this.#state === 'closed') {
        if (letter !== ' ' && letter !== '\t') throw new ListError('has something behind a closing quote');
        this.#state = 'closed';
      } else {
        this.#state = 'plain';
        this.#ended = false;
      }
    }
    this.#keep(text.slice(from));
  }

  /** Throws a ListError if the last record is not ended. */
  end(): void {
    // Ctrl-Z ended text files once, and still ends some lists.
    const rest = this.#field.trim();
    const isDone = this.#ended || (this.#fields.length === 0 && (rest === '' || rest === '\u001a'));
    if (!isDone) throw new ListError('ends in the middle of a record');
  }

  #keep(text: string): void {
    this.#field += text;
    this.#length += text.length;
    if (this.#length > longestRecord) throw new ListError('has a record that is too long');
  }

  #endField(): void {
    this.#fields.push(decodeText(this.#field).trim());
    this.#field = '';
    this.#state = 'start';
    this.#ended = false;
  }

  #endRecord(): void {
    const fields = this.#fields;
    this.#fields = [];
    this.#length = 0;
    this.#ended = true;
    if (fields.length > 1 || fields[0] !== '') this.#take(fields);
  }
}
