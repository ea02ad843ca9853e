/**
 * One plugin folder to one file of code for the sandbox.
 *
 * Threat: a plugin's source is read here with the host's rights. It could import the host's own files, a key as JSON for
 * instance, and so carry them into its bundle. Only the plugin's folder, installed packages and the SDK are read, after
 * links were followed. Nothing of the plugin runs while bundling.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { refuse } from '../../../sdk/contract/errors.ts';
import { evade } from './evasion.ts';

/** Characters of code that one plugin may have. */
export const MAX_BUNDLE_CHARS = 3 * 1024 * 1024;
/** Beside plugin.json, for plugins that ship with the host. */
export const BUNDLE_FILE = 'plugin.bundle.cjs';

export interface Bundle {
  /** Sandbox-ready CommonJS. */
  code: string;
  /** JSON source map from `code`'s lines to the plugin's files. */
  map: string;
  /** Over the plugin's own files and packages as delivered, by name and content. The host's SDK is not part of it. */
  sha256: string;
}

// Compiled, this file lies three rooms below the package's dist; from source, below its root.
const home = fileURLToPath(new URL('../../../', import.meta.url));
const sdkEntry = (name: string): string => {
  const compiled = join(home, 'sdk', `${name}.js`);
  return existsSync(compiled) ? compiled : join(home, 'sdk', `${name}.ts`);
};
const packages = nodeModulesAbove(home);

/** @throws PLUGIN_BUNDLE_REJECTED with file, line and problem. */
export async function bundlePlugin(directory: string, entry: string): Promise<Bundle> {
  const folder = realpathSync(directory);
  const built = await esbuild
    .build({
      absWorkingDir: folder,
      entryPoints: [join(folder, entry)],
      bundle: true,
      write: false,
      outfile: 'plugin.cjs',
      format: 'cjs',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      conditions: ['import', 'default'],
      target: 'es2022',
      charset: 'utf8',
      legalComments: 'none',
      sourcemap: 'external',
      sourcesContent: false,
      metafile: true,
      logLevel: 'silent',
      loader: { '.txt': 'text' },
      nodePaths: packages,
      plugins: [sdkForPlugins, onlyOwnFiles(folder)],
    })
    .catch((failure: esbuild.BuildFailure) => rejectBuild(failure, entry));
  const [code, map] = [text(built, '.cjs'), text(built, '.map')];
  const evaded = evadeOrReject(code, map);
  if (evaded.length > MAX_BUNDLE_CHARS) {
    refuse('PLUGIN_BUNDLE_REJECTED', {
      file: entry,
      line: 1,
      problem: `it has ${evaded.length} characters of code; the limit is ${MAX_BUNDLE_CHARS}`,
    });
  }
  return { code: evaded, map, sha256: hashOfInputs(folder, Object.keys(built.metafile.inputs)) };
}

/** The bundle that was made when the host was built, or a fresh one. */
export async function loadBundle(directory: string, entry: string, prebuilt: boolean): Promise<Bundle> {
  const file = join(directory, BUNDLE_FILE);
  if (!prebuilt || !existsSync(file)) return bundlePlugin(directory, entry);
  const code = readFileSync(file, 'utf8');
  return { code, map: readFileSync(`${file}.map`, 'utf8'), sha256: createHash('sha256').update(code).digest('hex') };
}

/** Bundles a plugin folder and keeps the result beside its plugin.json. */
export async function writeBundle(directory: string): Promise<void> {
  const { entry } = JSON.parse(readFileSync(join(directory, 'plugin.json'), 'utf8'));
  const compiled = String(entry).replace(/\.ts$/, '.js');
  const bundle = await bundlePlugin(directory, existsSync(join(directory, compiled)) ? compiled : entry);
  writeFileSync(join(directory, BUNDLE_FILE), bundle.code);
  writeFileSync(join(directory, `${BUNDLE_FILE}.map`), bundle.map);
}

/** Where a line of a bundle came from. */
export function placeInSource(map: string, line: number, column: number): { file: string; line: number } | undefined {
  const payload: SourceMapPayload = JSON.parse(map);
  const entry = new SourceMap(payload).findEntry(line - 1, column);
  if (!('originalSource' in entry) || typeof entry.originalSource !== 'string') return undefined;
  return { file: entry.originalSource, line: entry.originalLine + 1 };
}

function evadeOrReject(code: string, map: string): string {
  const reject = (line: number, column: number, problem: string): never => {
    const place = placeInSource(map, line, column) ?? { file: 'plugin.cjs', line };
    return refuse('PLUGIN_BUNDLE_REJECTED', { ...place, problem });
  };
  let evaded: ReturnType<typeof evade>;
  try {
    evaded = evade(code);
  } catch (error) {
    const { loc, message } = error as { loc?: { line: number; column: number }; message: string };
    return reject(loc?.line ?? 1, loc?.column ?? 0, message);
  }
  const [first] = evaded.findings;
  return first ? reject(first.line, first.column, first.problem) : evaded.code;
}

function rejectBuild(failure: esbuild.BuildFailure, entry: string): never {
  const [first] = failure.errors ?? [];
  refuse('PLUGIN_BUNDLE_REJECTED', {
    file: first?.location?.file ?? entry,
    line: first?.location?.line ?? 1,
    problem: explain(first?.text ?? failure.message),
  });
}

/** The commonest cause in an author's words. */
function explain(problem: string): string {
  const module = /Could not resolve "(?:node:)?([\w/]+)"/.exec(problem)?.[1];
  const builtin =
    module !== undefined &&
    /^(?:fs|path|http|https|net|os|crypto|child_process|process|worker_threads|url|util|stream|events|buffer|timers)(?:\/|$)/.test(
      module,
    );
  if (builtin) return `"${module}" belongs to Node, which a plugin cannot reach; ask for a capability instead`;
  return problem.replace(/\.$/, '');
}

/** `jev-host/sdk` is the host's own, so a plugin always meets the contract that it will run under. */
const sdkForPlugins: esbuild.Plugin = {
  name: 'sdk',
  setup(build) {
    build.onResolve({ filter: /^jev-host\/sdk$/ }, () => ({ path: sdkEntry('index'), sideEffects: false }));
  },
};

function onlyOwnFiles(folder: string): esbuild.Plugin {
  const allowed = [folder, join(home, 'sdk'), ...nodeModulesAbove(folder), ...packages].map((path) => path + sep);
  return {
    name: 'only-own-files',
    setup(build) {
      build.onLoad({ filter: /.*/, namespace: 'file' }, ({ path }) => {
        const real = realpathSync(path);
        if (allowed.some((root) => real.startsWith(root))) return undefined;
        return { errors: [{ text: `${basename(path)} is outside the plugin's folder` }] };
      });
    },
  };
}

function nodeModulesAbove(folder: string): string[] {
  const found: string[] = [];
  for (let at = resolve(folder); ; at = dirname(at)) {
    const candidate = join(at, 'node_modules');
    if (existsSync(candidate)) found.push(realpathSync(candidate));
    if (dirname(at) === at) return found;
  }
}

function hashOfInputs(folder: string, inputs: readonly string[]): string {
  const sdk = realpathSync(join(home, 'sdk'));
  const hash = createHash('sha256');
  for (const input of [...inputs].sort()) {
    const path = realpathSync(resolve(folder, input));
    if (path.startsWith(sdk + sep)) continue;
    const content = createHash('sha256').update(readFileSync(path)).digest('hex');
    hash.update(`${content}  ${relative(folder, path)}\n`);
  }
  return hash.digest('hex');
}

function text(result: esbuild.BuildResult<{ write: false }>, extension: string): string {
  return result.outputFiles.find(({ path }) => extname(path) === extension)?.text ?? '';
}
