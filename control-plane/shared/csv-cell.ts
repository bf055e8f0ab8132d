/** One cell of a CSV file (RFC 4180), for spreadsheets. */

/** A spreadsheet takes what begins like a formula for one, so such text gets an apostrophe in front. What is unknown is empty. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
