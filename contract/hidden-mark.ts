/** With it each hidden name begins, which replies show opened. No text of a request may hold it: it would be opened, too. */
export const hiddenMark = '{gw-name:';
export const holdsHiddenMark = `contains \`${hiddenMark}\`, which is reserved`;
