import { expect, test } from 'vitest';
import { besideOurs, publishedFigures } from './published.ts';

test.each(publishedFigures)(
  '$model, $published: it is said why a published figure is outside of our bounds, of no other',
  (figure) => {
    const { isInside } = besideOurs(figure);
    expect(isInside ? undefined : figure.outside).toBe(figure.outside);
    expect(isInside || figure.outside !== undefined).toBe(true);
  },
);
