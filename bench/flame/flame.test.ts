import { expect, test } from 'vitest';
import { flameGraph } from './graph.ts';
import { type Frame, frameTree } from './profile.ts';

/** One node under the other, each called by the one before; a sample of 100 µs for each name in `samples`, in their order. */
function profile(names: readonly string[], samples: readonly string[]): string {
  const nodes = names.map((name, index) => {
    const [functionName = '', where = 'own'] = name.split(' of ');
    const url = where === 'own' ? 'file:///gateway/dist/service.js' : where;
    return {
      id: index + 1,
      callFrame: { functionName, url: where === 'V8' ? '' : url, lineNumber: where === 'V8' ? -1 : 7 },
      children: index + 1 < names.length ? [index + 2] : [],
    };
  });
  const ids = samples.map((name) => names.indexOf(name) + 1);
  return JSON.stringify({ nodes, startTime: 1000, samples: ids, timeDeltas: ids.map(() => 100) });
}

const shown = ({ callees, name, us }: Frame): unknown => [name, us, [...callees.values()].map(shown)];
const whole = { fromUs: 0, toUs: 1e9, calls: 10 };

test('time is that of a call, of callers with what they call, and what the runtime does is one frame', () => {
  const names = [
    '(root) of V8',
    'onread of node:net',
    'answer',
    ' of own',
    'encode',
    'write of node:net',
    'writev of V8',
  ];
  const json = profile(names, ['answer', 'encode', 'writev of V8', 'writev of V8', 'onread of node:net']);
  expect(shown(frameTree('part', json, whole))).toEqual([
    'part',
    50,
    [
      ['answer', 40, [['encode', 30, [['writev', 20, []]]]]],
      ['onread', 10, []],
    ],
  ]);
});

test('what was idle, and what lies outside of the time that counts, is left out; names of JavaScript are names', () => {
  const names = ['(root) of V8', '(idle) of V8', 'constructor of V8'];
  const json = profile(names, ['constructor of V8', '(idle) of V8', 'constructor of V8', 'constructor of V8']);
  const tree = frameTree('part', json, { fromUs: 1150, toUs: 1350, calls: 1 });
  expect(shown(tree)).toEqual(['part', 100, [['constructor', 100, []]]]);
  expect(() => frameTree('part', '{}', whole)).toThrow();
});

test('the picture has each frame that can be seen, to scale, and no name can break out of it', () => {
  const callees = new Map([['<b>&"', { name: '<b>&"', isRuntime: true, us: 25, callees: new Map() }]]);
  const part = { name: 'part', isRuntime: false, us: 100, callees };
  const svg = flameGraph([part], { title: 'Time', width: 420, scaleUs: 200 });
  expect(svg).toContain('Time: 100 µs for a call');
  expect(svg).toMatch(/class="part" x="10\.0" y="44" width="200\.0"/);
  expect(svg).toMatch(
    /class="runtime" x="10\.0" y="60" width="50\.0" height="16"><title>&#60;b&#62;&#38;&#34;, 25\.0 µs/,
  );
  expect(svg).not.toContain('<b>');
  const thin = { ...part, us: 0.1 };
  expect(flameGraph([part, thin], { title: 'Time', width: 420 }).match(/<rect/g)).toHaveLength(2);
});
