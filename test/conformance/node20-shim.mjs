/** The suite imports `globSync`, which Node 20 lacks and server scenarios never call. */
import { register } from 'node:module';

const hook = `
export async function resolve(specifier, context, next) {
  const asked = (specifier === 'fs' || specifier === 'node:fs') && context.parentURL?.includes('/@modelcontextprotocol/conformance/');
  return asked ? { url: 'shim:fs', shortCircuit: true } : next(specifier, context);
}
export async function load(url, context, next) {
  if (url !== 'shim:fs') return next(url, context);
  const source = "import fs from 'node:fs'; export * from 'node:fs'; export default fs; export function globSync() { throw new Error('not on Node 20'); }";
  return { format: 'module', shortCircuit: true, source };
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
