import { describe, expect, it } from 'vitest';
import { createProgress, type DoneAction } from './progress.ts';
import { field } from './testing/pages.ts';

const action = (before: string, after: string, more: Partial<DoneAction> = {}): DoneAction => ({
  record: { operation: 'CLICK', target: 'x', page_changed: before !== after },
  signature: `${before}>${after}`,
  before,
  after,
  url: 'u',
  ...more,
});

describe('a run that gets nowhere', () => {
  it('ends after three actions in a row that changed nothing', () => {
    const progress = createProgress();
    expect(progress.acted(action('a', 'a', { signature: '1' }))).toBeUndefined();
    expect(progress.acted(action('a', 'b', { signature: '2' }))).toBeUndefined();
    expect(progress.acted(action('b', 'b', { signature: '3' }))).toBeUndefined();
    expect(progress.acted(action('c', 'c', { signature: '4' }))).toBeUndefined();
    expect(progress.acted(action('d', 'd', { signature: '5' }))).toBe('NO_PROGRESS');
  });

  it('ends when actions lead to the same state a third time', () => {
    const progress = createProgress();
    expect(progress.acted(action('b', 'a'))).toBeUndefined();
    expect(progress.acted(action('a', 'b'))).toBeUndefined();
    expect(progress.acted(action('b', 'a'))).toBeUndefined();
    expect(progress.acted(action('a', 'b'))).toBeUndefined();
    expect(progress.acted(action('b', 'a'))).toBe('NO_PROGRESS');
  });

  it('knows an action that left this very state unchanged, and no other', () => {
    const progress = createProgress();
    progress.acted(action('a', 'a', { signature: 's' }));
    expect(progress.wouldRepeat('s', 'a')).toBe(true);
    expect(progress.wouldRepeat('s', 'b')).toBe(false);
    expect(progress.wouldRepeat('t', 'a')).toBe(false);
  });

  it('ends after ten waits in a row, and an action begins the count anew', () => {
    const progress = createProgress();
    for (let i = 0; i < 9; i++) expect(progress.waited(false)).toBeUndefined();
    progress.acted(action('a', 'b'));
    for (let i = 0; i < 9; i++) expect(progress.waited(true)).toBeUndefined();
    expect(progress.waited(false)).toBe('WAIT_BUDGET');
  });
});

describe('what is told of earlier actions', () => {
  it('keeps ten, and begins anew on another address without forgetting what led there', () => {
    const progress = createProgress();
    progress.at('one');
    for (let i = 0; i < 12; i++) progress.acted(action(`${i}`, `${i}x`));
    expect(progress.recent()).toHaveLength(10);
    progress.at('one');
    expect(progress.recent()).toHaveLength(10);
    progress.at('two');
    expect(progress.recent()).toEqual([]);
    expect(progress.earlier()).toHaveLength(10);
  });
});

describe('a field that was typed into', () => {
  const city = field('c', { label: 'City' });
  const typed = (text: string, n: number): DoneAction =>
    action(`${n}`, `${n}x`, { record: { operation: 'TYPE_TEXT', text, page_changed: true }, field: city });

  it('is exhausted after the same text twice, until another value is supplied', () => {
    const progress = createProgress();
    progress.acted(typed('London', 1));
    expect(progress.exhausted(city, undefined)).toBe(false);
    progress.acted(typed('London', 2));
    expect(progress.exhausted({ ...city, ref: 'new', value: 'London' }, 'Paris')).toBe(true);
    expect(progress.exhausted(city, 'London')).toBe(false);
    expect(progress.exhausted(field('d', { label: 'Country' }), undefined)).toBe(false);
  });

  it('is not exhausted by two different texts, nor by one that is eight actions old', () => {
    const progress = createProgress();
    progress.acted(typed('London', 1));
    progress.acted(typed('Paris', 2));
    expect(progress.exhausted(city, undefined)).toBe(false);
    for (let i = 0; i < 7; i++) progress.acted(action(`${i}s`, `${i}t`));
    progress.acted(typed('London', 3));
    expect(progress.exhausted(city, undefined)).toBe(false);
  });
});
