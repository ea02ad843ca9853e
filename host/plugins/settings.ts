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
  refuse('PLUGIN_SETTINGS_INVALID', { path, problem: problem.slice(0, 300) });
}

function checkOf(schema: Record<string, unknown>) {
  try {
    return new AjvJsonSchemaValidator().getValidator(schema);
  } catch (error) {
    const problem = `it is not a JSON Schema (${(error as Error).message.slice(0, 200)})`;
    return refuse('PLUGIN_MANIFEST_INVALID', { path: 'settings', problem });
  }
}
