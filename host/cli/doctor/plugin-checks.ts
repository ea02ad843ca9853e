/** Plugins: whether each can be read, and names in grants that give nothing. Nothing of a plugin is run. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isHostError } from '../../../sdk/contract/errors.ts';
import type { Manifest } from '../../../sdk/contract/manifest.ts';
import { grantWarnings, manifestWarnings } from '../../plugins/grant-warnings.ts';
import { readManifest } from '../../plugins/read-manifest.ts';
import { checkSettings } from '../../plugins/settings.ts';
import { type Check, fail, ok, warn } from './check.ts';

const bundled = fileURLToPath(new URL('../../../plugins/', import.meta.url));

export const plugins: Check = ({ config }) =>
  Object.entries(config.plugins).flatMap(([pluginId, { path, grants, settings }]) => {
    const id = `plugin.${pluginId}`;
    const directory = path ?? join(bundled, pluginId);
    if (!existsSync(join(directory, 'plugin.json')))
      return [fail(id, `${directory} holds no plugin.json.`, `Correct plugins.${pluginId}.path, or remove the entry.`)];
    try {
      const manifest = readManifest(directory);
      const unfit = settingsProblem(manifest, settings);
      if (unfit !== undefined) return [fail(id, unfit, 'Correct the setting: as it stands the plugin does not serve.')];
      const warnings = [...manifestWarnings(manifest), ...grantWarnings(manifest, grants)];
      if (warnings.length === 0) return [ok(id, `${manifest.version} can be read; its grants name what it asks for.`)];
      return warnings.map((says) => warn(id, says, 'Correct the name: as it stands it gives nothing.'));
    } catch (error) {
      if (!isHostError(error)) throw error;
      return [
        fail(id, error.message, 'Have the plugin’s author correct it (jev-host plugin check), or remove the entry.'),
      ];
    }
  });

function settingsProblem(manifest: Manifest, settings: Record<string, unknown>): string | undefined {
  try {
    checkSettings(manifest, settings);
    return undefined;
  } catch (error) {
    if (!isHostError(error, 'PLUGIN_SETTINGS_INVALID')) throw error;
    return error.message;
  }
}
