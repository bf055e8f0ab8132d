/**
 * How often something is read again, ms; false once nobody has touched the page for ten minutes. Each read counts as use of the
 * session, and one that nobody uses has to end.
 */
export function whileUsed(everyMs: number): number | false {
  return Date.now() - usedAt < idleMs ? everyMs : false;
}

const idleMs = 600_000;
let usedAt = Date.now();
for (const kind of ['pointerdown', 'pointermove', 'keydown', 'scroll'])
  document.addEventListener(
    kind,
    () => {
      usedAt = Date.now();
    },
    { passive: true, capture: true },
  );
