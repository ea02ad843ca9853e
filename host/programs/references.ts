/**
 * What programs may call by exact reference, as whoever launched them.
 *
 * Threat: a program is a way around what its caller may do. So a reference exists only where its caller has the same
 * power without a program, it is looked up again for every call, and a reference whose description changed since the
 * launch is not the one that was checked: it is refused.
 */
import { createHash } from 'node:crypto';
import type { ProgramTool } from '../../sdk/contract/program.ts';
import type { RunAuthority } from '../plugins/ports.ts';

export interface Reference extends ProgramTool {
  /** Whether this caller may use it now. */
  allowed: boolean;
  /** Checks the arguments, asks for what approvals there are, and calls. */
  call(args: unknown, signal: AbortSignal): Promise<unknown>;
}

/** Where references come from: plugins' tools, the browser harness, the evaluation service. */
export interface ReferenceSource {
  find(ref: string, caller: RunAuthority): Reference | undefined;
}

/** Changes with everything that a checked program relies on. */
export function fingerprint({ ref, allowed, inputSchema, outputSchema, description }: Reference): string {
  const text = JSON.stringify([ref, allowed, inputSchema ?? null, outputSchema ?? null, description ?? null]);
  return createHash('sha256').update(text).digest('hex');
}

export interface Lookup {
  found: Reference[];
  denied: string[];
  missing: string[];
  /** One value for all of them together. */
  generation: string;
}

export function lookUp(refs: readonly string[], caller: RunAuthority, sources: readonly ReferenceSource[]): Lookup {
  const found: Reference[] = [];
  const denied: string[] = [];
  const missing: string[] = [];
  for (const ref of refs) {
    const reference = findReference(ref, caller, sources);
    if (!reference) missing.push(ref);
    else if (reference.allowed) found.push(reference);
    else denied.push(ref);
  }
  const generation = createHash('sha256').update(found.map(fingerprint).join('\n')).digest('hex');
  return { found, denied, missing, generation };
}

export function findReference(
  ref: string,
  caller: RunAuthority,
  sources: readonly ReferenceSource[],
): Reference | undefined {
  for (const source of sources) {
    const reference = source.find(ref, caller);
    if (reference) return reference;
  }
  return undefined;
}
