import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import { CONTRACT_VERSION, Manifest } from '../../sdk/contract/manifest.ts';

/** Bytes that plugin.json may take. */
const MAX_MANIFEST_BYTES = 256 * 1024;

/** @throws PLUGIN_MANIFEST_INVALID with the path of what is wrong, PLUGIN_CONTRACT_VERSION. */
export function readManifest(directory: string): Manifest {
  let value: unknown;
  try {
    const text = readFileSync(join(directory, 'plugin.json'), 'utf8');
    if (text.length > MAX_MANIFEST_BYTES) throw new Error(`it is over ${MAX_MANIFEST_BYTES} bytes`);
    value = JSON.parse(text);
  } catch (error) {
    throw new HostError('PLUGIN_MANIFEST_INVALID', { path: 'plugin.json', problem: (error as Error).message });
  }
  return checkManifest(value);
}

export function checkManifest(value: unknown): Manifest {
  const { contract, id } = (value ?? {}) as { contract?: unknown; id?: unknown };
  if (Number.isInteger(contract) && contract !== CONTRACT_VERSION) {
    refuse('PLUGIN_CONTRACT_VERSION', {
      plugin: String(id),
      contract: contract as number,
      supported: CONTRACT_VERSION,
    });
  }
  const parsed = v.safeParse(Manifest, value);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    refuse('PLUGIN_MANIFEST_INVALID', { path: v.getDotPath(issue) ?? 'plugin.json', problem: issue.message });
  }
  if (parsed.output.kind === 'controller' && !parsed.output.adapter) {
    refuse('PLUGIN_MANIFEST_INVALID', {
      path: 'adapter',
      problem: 'a controller names the kind of target that it drives',
    });
  }
  return parsed.output;
}
