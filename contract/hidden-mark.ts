/** Each hidden name begins with it, and replies open hidden names. No text of a request may contain it, since replies would open that too. */
export const hiddenMark = '{gw-name:';
export const holdsHiddenMark = `contains \`${hiddenMark}\`, which is reserved`;
