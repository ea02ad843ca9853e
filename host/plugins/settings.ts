/**
 * The operator's settings of a plugin, held against the schema of its manifest before a version of it serves.
 *
 * A mistake is found at the start or the reload at which it was made, by name, and not by the plugin in the middle of a task.
 */
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Manifest } from '../../sdk/contract/manifest.ts';

/** @throws PLUGIN_SETTINGS_INVALID with the path in the configuration; PLUGIN_MANIFEST_INVALID for a schema that is none. */
export function checkSettings({ id, settings: schema }: Manifest, settings: Record<string, unknown>): void {
  const root = `plugins.${id}.settings`;
  if (schema === undefined) {
    const [first] = Object.keys(settings);
    if (first !== undefined) {
      refuse('PLUGIN_SETTINGS_INVALID', { path: `${root}.${first}`, problem: 'the plugin takes no settings' });
    }
    return;
  }
  const { valid, errorMessage } = checkOf(schema)(settings);
  if (valid) return;
  // The library's words begin with the place: "data/limits/max must be integer".
  const [, place = '', problem = 'it does not fit the schema'] = /^data(\S*) (.*)$/s.exec(errorMessage ?? '') ?? [];
  const path = `${root}${place.replaceAll('/', '.')}`;
  const stranger = strangerAt(place.split('/').slice(1), schema, settings);
  if (/additional properties/.test(problem) && stranger !== undefined)
    refuse('PLUGIN_SETTINGS_INVALID', { path: `${path}.${stranger}`, problem: 'is not a setting of this plugin' });
  refuse('PLUGIN_SETTINGS_INVALID', { path, problem: problem.slice(0, 300) });
}

/** The library says that there is a key too many, and not which: the first at that place that the schema does not list. */
function strangerAt(place: string[], schema: unknown, value: unknown): string | undefined {
  const { properties } = (schema ?? {}) as { properties?: Record<string, unknown> };
  if (!properties || typeof value !== 'object' || value === null) return undefined;
  const [key, ...rest] = place;
  if (key === undefined) return Object.keys(value).find((name) => !Object.hasOwn(properties, name));
  return strangerAt(rest, properties[key], (value as Record<string, unknown>)[key]);
}

function checkOf(schema: Record<string, unknown>) {
  try {
    return new AjvJsonSchemaValidator().getValidator(schema);
  } catch (error) {
    const problem = `it is not a JSON Schema (${(error as Error).message.slice(0, 200)})`;
    return refuse('PLUGIN_MANIFEST_INVALID', { path: 'settings', problem });
  }
}
