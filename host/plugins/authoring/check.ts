/**
 * What `jev-host plugin check` finds: the manifest, the bundle, the start in a real sandbox, and what the code uses against
 * what plugin.json asks for. Each finding has a place and a way to mend it.
 */
import { type Node, type Position, parse } from 'acorn';
import { isHostError } from '../../../sdk/contract/errors.ts';
import type { CapabilityId, Manifest } from '../../../sdk/contract/manifest.ts';
import { type Bundle, bundlePlugin, placeInSource } from '../bundle/bundle.ts';
import { walk } from '../bundle/evasion.ts';
import { Generation } from '../generation.ts';
import { manifestWarnings } from '../grant-warnings.ts';
import { effectiveGrants, requested } from '../grants.ts';
import { unserved } from '../host-services.ts';
import { readManifest } from '../read-manifest.ts';
import { threadTier } from '../thread-tier.ts';
import { checkToolSchemas } from '../tool-schemas.ts';

export interface Finding {
  level: 'error' | 'warning';
  file: string;
  line: number;
  problem: string;
  mend: string;
}

export interface Checked {
  manifest?: Manifest;
  bundle?: Bundle;
  findings: Finding[];
  /** Milliseconds that the start in the sandbox took. */
  startMs?: number;
}

/** Facets by the first name of their path on the context. */
const facets: Record<string, CapabilityId[]> = {
  jev: ['jev.evaluate'],
  tools: ['tools.call'],
  thinking: ['thinking.provider', 'thinking.assist'],
  model: ['model.messages'],
  task: ['task'],
  image: ['image'],
  storage: ['storage'],
  clock: ['clock'],
  random: ['random'],
  log: ['log'],
  cdp: ['cdp.call'],
  tasks: ['tasks.control'],
  speech: ['speech'],
  program: ['program'],
  http: ['http.fetch'],
};

const absentGlobals: Record<string, string> = {
  process: 'read operator settings from ctx.run.settings',
  require: 'import at the top of the file',
  Buffer: 'use Uint8Array, TextEncoder and TextDecoder',
  global: 'use globalThis, which is the sandbox’s own',
  window: 'drive the page through the tools of the task’s target',
  document: 'drive the page through the tools of the task’s target',
  fetch: 'ask for http.fetch and use ctx.http.fetch',
  XMLHttpRequest: 'ask for http.fetch and use ctx.http.fetch',
  WebSocket: 'ask for http.fetch and use ctx.http.fetch',
  setImmediate: 'use queueMicrotask or setTimeout',
  performance: 'ask for clock and use ctx.clock.now()',
  crypto: 'ask for random and use ctx.random.uuid()',
  WebAssembly: 'use JavaScript',
  __dirname: 'import data as JSON or text',
  __filename: 'import data as JSON or text',
};

export async function checkPlugin(directory: string): Promise<Checked> {
  const findings: Finding[] = [];
  let manifest: Manifest;
  let bundle: Bundle;
  try {
    manifest = readManifest(directory);
    checkToolSchemas(manifest);
  } catch (error) {
    return { findings: [fromError(error, 'plugin.json', 'correct the named entry')] };
  }
  try {
    bundle = await bundlePlugin(directory, manifest.entry);
  } catch (error) {
    return { manifest, findings: [fromError(error, manifest.entry, 'change the named line')] };
  }
  findings.push(...usage(manifest, bundle));
  const started = await startOnce(manifest, bundle);
  if ('failure' in started) findings.push(started.failure);
  return { manifest, bundle, findings, ...('startMs' in started ? { startMs: started.startMs } : {}) };
}

function fromError(error: unknown, file: string, mend: string): Finding {
  const details = isHostError(error) ? error.details : {};
  const problem = [details.path, details.problem ?? (error as Error).message].filter(Boolean).join(': ');
  return {
    level: 'error',
    file: typeof details.file === 'string' ? details.file : file,
    line: typeof details.line === 'number' ? details.line : 1,
    problem,
    mend,
  };
}

/** Names that the code uses and the sandbox does not have, facets that it uses or not. Reads the code; runs nothing. */
function usage(manifest: Manifest, { code, map }: Bundle): Finding[] {
  const tree = parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  const declared = new Set<string>();
  const members = new Set<string>();
  const names: { name: string; at: Position }[] = [];
  const used: { facet: string; at: Position }[] = [];
  const skip = new Set<Node>();
  walk(tree, (node) => {
    const { type } = node;
    const parts = node as unknown as Record<string, Node & { name?: string; type: string }> & { computed?: boolean };
    if ((type === 'MemberExpression' && !parts.computed) || type === 'Property' || type === 'MethodDefinition') {
      const named = type === 'MemberExpression' ? parts.property : parts.key;
      if (named) skip.add(named);
      if (type === 'MemberExpression' && named?.name) members.add(named.name);
      if (type === 'MemberExpression' && named?.name && /^(?:ctx|context)$/.test(parts.object?.name ?? '')) {
        used.push({ facet: named.name, at: (node.loc as { start: Position }).start });
      }
    }
    // `typeof x` of a name that does not exist is how code asks whether it exists.
    if (type === 'UnaryExpression' && (node as { operator?: string }).operator === 'typeof' && parts.argument)
      skip.add(parts.argument);
    for (const name of bindings(node)) declared.add(name);
    if (type === 'Identifier' && !skip.has(node)) {
      names.push({ name: (node as unknown as { name: string }).name, at: (node.loc as { start: Position }).start });
    }
  });
  const at = ({ line, column }: Position) => placeInSource(map, line, column) ?? { file: manifest.entry, line };
  const asked = new Set(requested(manifest).map(([id]) => id));
  const findings: Finding[] = [];
  for (const { name, at: position } of names) {
    const mend = Object.hasOwn(absentGlobals, name) ? absentGlobals[name] : undefined;
    if (mend && !declared.has(name))
      findings.push({ level: 'error', ...at(position), problem: `"${name}" does not exist in the sandbox`, mend });
  }
  for (const { facet, at: position } of used) {
    const ids = Object.hasOwn(facets, facet) ? facets[facet] : undefined;
    if (!ids || ids.some((id) => asked.has(id))) continue;
    findings.push({
      level: 'error',
      ...at(position),
      problem: `ctx.${facet} is used, plugin.json does not ask for it`,
      mend: `add "${ids[0]}" with a reason to capabilities`,
    });
  }
  for (const problem of manifestWarnings(manifest))
    findings.push({
      level: 'warning',
      file: 'plugin.json',
      line: 1,
      problem: problem.replace(/\.$/, ''),
      mend: 'correct the name',
    });
  for (const id of asked) {
    const nowhere = unserved.get(id);
    if (nowhere)
      findings.push({
        level: 'error',
        file: 'plugin.json',
        line: 1,
        problem: `"${id}" is asked for, and ${nowhere}`,
        mend: 'remove it: a host refuses to start a plugin that is granted it',
      });
    const facet = id.split('.')[0] ?? id;
    if (members.has(facet) || (id === 'clock' && members.has('now')) || id === 'log') continue;
    findings.push({
      level: 'warning',
      file: 'plugin.json',
      line: 1,
      problem: `"${id}" is asked for and not used`,
      mend: 'remove it: an operator grants less readily what is not needed',
    });
  }
  return unique(findings);
}

function bindings(node: Node): string[] {
  const { type } = node;
  const parts = node as unknown as { id?: Node; params?: Node[]; param?: Node };
  if (type === 'VariableDeclarator' && parts.id) return patternNames(parts.id);
  if (/Function|Class/.test(type))
    return [...(parts.id ? patternNames(parts.id) : []), ...(parts.params ?? []).flatMap(patternNames)];
  return type === 'CatchClause' && parts.param ? patternNames(parts.param) : [];
}

function patternNames(pattern: Node | null): string[] {
  if (!pattern) return [];
  const names: string[] = [];
  walk(pattern, (node) => {
    if (node.type === 'Identifier') names.push((node as unknown as { name: string }).name);
  });
  return names;
}

const unique = (findings: Finding[]): Finding[] => [
  ...new Map(findings.map((finding) => [`${finding.file}:${finding.line}:${finding.problem}`, finding])).values(),
];

async function startOnce(manifest: Manifest, bundle: Bundle): Promise<{ startMs: number } | { failure: Finding }> {
  const generation = new Generation({
    number: 1,
    manifest,
    bundle,
    grants: effectiveGrants(manifest, undefined, true),
    features: manifest.features,
    settings: {},
    limits: manifest.limits,
    tier: threadTier,
    activationMs: 10_000,
    unresponsiveMs: 10_000,
    check: true,
    now: Date.now,
    stray: () => {},
    crashed: () => {},
  });
  try {
    await generation.start();
    return { startMs: generation.startMs };
  } catch (error) {
    return { failure: startFailure(error, manifest, bundle) };
  } finally {
    await generation.close(0);
  }
}

function startFailure(error: unknown, manifest: Manifest, bundle: Bundle): Finding {
  const problem = isHostError(error) ? String(error.details.problem ?? error.message) : String(error);
  const details = ((error as Error).cause as { details?: string } | undefined)?.details ?? '{}';
  const place = stackPlace(JSON.parse(details).stack, bundle) ?? { file: manifest.entry, line: 1 };
  return {
    level: 'error',
    ...place,
    problem,
    mend: 'the plugin must start without any capability: move work into run',
  };
}

/** The first place of a stack that lies in the plugin's code. */
function stackPlace(stack: unknown, { map }: Bundle): { file: string; line: number } | undefined {
  if (typeof stack !== 'string') return undefined;
  for (const [, line, column] of stack.matchAll(/<anonymous>:(\d+):(\d+)/g)) {
    const place = placeInSource(map, Number(line), Number(column) - 1);
    if (place) return place;
  }
  return undefined;
}
