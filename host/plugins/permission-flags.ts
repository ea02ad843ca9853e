/**
 * Node's permission model, where the running Node has it (22 and later): a second wall, under the sandbox, never instead of
 * it. It closes files, processes and addons to a plugin that escaped; the network and signals stay open to it. SQLite
 * writes files past the model, so it is switched off too.
 */
export function permissionFlags(readable: readonly string[]): string[] {
  if (!process.allowedNodeEnvironmentFlags.has('--permission')) return [];
  return ['--permission', '--no-experimental-sqlite', ...readable.map((path) => `--allow-fs-read=${path}`)];
}
