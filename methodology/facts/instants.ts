/** Times as texts and as numbers. Those of one call, and of one grid value, are read and written again and again, so they are remembered. */

const most = 1000;

function remembered<From, To>(make: (from: From) => To): (from: From) => To {
  const known = new Map<From, To>();
  return (from) => {
    const found = known.get(from);
    if (found !== undefined) return found;
    const made = make(from);
    if (known.size >= most) known.clear();
    known.set(from, made);
    return made;
  };
}

const parsed = remembered((text: string) => Date.parse(text));
/** No time that is written as one is longer; what is longer is not worth keeping. */
const longest = 40;

/** As `Date.parse`: ms since 1970, or NaN. */
export const msOf = (text: string): number => (text.length > longest ? Date.parse(text) : parsed(text));

/** RFC 3339, UTC, milliseconds. Throws outside of the range of Date. */
export const textOf: (ms: number) => string = remembered((ms) => new Date(ms).toISOString());
