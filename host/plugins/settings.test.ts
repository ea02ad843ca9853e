import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../sdk/contract/manifest.ts';
import { checkSettings } from './settings.ts';

const schema = {
  type: 'object',
  properties: { greeting: { type: 'string' }, limits: { type: 'object', properties: { most: { type: 'integer' } } } },
  required: ['greeting'],
  additionalProperties: false,
};
const check = (given: Record<string, unknown>, settings?: object) => {
  try {
    checkSettings({ id: 'form-filler', settings } as Manifest, given);
    return 'fits';
  } catch (error) {
    const { code, details } = error as { code: string; details: { path: string } };
    return `${code} ${details.path}`;
  }
};

describe('settings of a plugin', () => {
  it.each([
    ['that fit', { greeting: 'Hello', limits: { most: 3 } }, schema, 'fits'],
    ['of the wrong type', { greeting: 7 }, schema, 'PLUGIN_SETTINGS_INVALID plugins.form-filler.settings.greeting'],
    [
      'wrong deep inside',
      { greeting: 'Hello', limits: { most: 'many' } },
      schema,
      'PLUGIN_SETTINGS_INVALID plugins.form-filler.settings.limits.most',
    ],
    ['with one too few', {}, schema, 'PLUGIN_SETTINGS_INVALID plugins.form-filler.settings'],
    [
      'with one that is not known',
      { greeting: 'a', gretting: 'b' },
      schema,
      'PLUGIN_SETTINGS_INVALID plugins.form-filler.settings.gretting',
    ],
    [
      'with one that is not known, deep inside',
      { greeting: 'a', limits: { mots: 3 } },
      {
        ...schema,
        properties: { ...schema.properties, limits: { ...schema.properties.limits, additionalProperties: false } },
      },
      'PLUGIN_SETTINGS_INVALID plugins.form-filler.settings.limits.mots',
    ],
    [
      'with one that is not known, where the schema does not list any',
      { greeting: 'a' },
      { type: 'object', additionalProperties: false },
      'PLUGIN_SETTINGS_INVALID plugins.form-filler.settings',
    ],
    [
      'for a plugin that takes none',
      { greeting: 'a' },
      undefined,
      'PLUGIN_SETTINGS_INVALID plugins.form-filler.settings.greeting',
    ],
    ['none, for a plugin that takes none', {}, undefined, 'fits'],
    ['against a schema that is none', {}, { type: 'nonsense' }, 'PLUGIN_MANIFEST_INVALID settings'],
  ] as const)('%s', (_, given, against, says) => {
    expect(check(given, against)).toBe(says);
  });

  it('are named in the words of the refusal', () => {
    expect(() => checkSettings({ id: 'p', settings: schema } as never, { greeting: 'a', gretting: 'b' })).toThrow(
      /plugins\.p\.settings\.gretting.*not a setting/,
    );
  });
});
