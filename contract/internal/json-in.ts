/** Returns the value of a JSON text, or null if it is not valid JSON: an error of `JSON.parse` would quote the text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
