/** `jev-host plugin`: for authors (new, check, test, dev, build, pack) and for operators (list, approve, enable). */
import { join, resolve } from 'node:path';
import type { PluginState } from '../plugins/ports.ts';
import { type Command, type CommandIo, print, say, UsageError } from './command.ts';
import { connectHost, hostOptions, hostOptionsHelp } from './host-client.ts';
import { parseOptions } from './options.ts';
import { plain, textTable } from './text-table.ts';

const author = { json: 'flag', out: 'text' } as const;

export const command: Command = {
  name: 'plugin',
  summary: 'Writes, checks and approves plugins.',
  usage: [
    'Usage: jev-host plugin new NAME [--out DIR]',
    '       jev-host plugin check|test|dev|build|pack [DIR] [--json] [--out DIR]',
    '       jev-host plugin list|approve ID|enable ID [--json] and which host',
    '',
    'For authors. DIR is the plugin’s folder (default: here).',
    '  new       A controller that works, with a test and a page to try it on.',
    '  check     Manifest, bundle, start in the sandbox, and what the code uses: file, line and what to do.',
    '  test      The folder’s own tests (*.test.ts), on Node’s test runner.',
    '  dev       Runs on the pages of dev.json, again after every change, and prints each decision.',
    '  build     Makes build/: the manifest and one file of code, which is what an operator is given.',
    '  pack      The same as one archive.',
    '',
    'For operators.',
    '  list      State, tier, grants, runs and crashes; what a held version changes.',
    '  approve   Lets the held version of a plugin run, exactly as `list` showed it.',
    '  enable    Starts again a plugin that was disabled after crashes.',
    '',
    hostOptionsHelp,
    '',
    'Example: jev-host plugin new form-filler && jev-host plugin test form-filler',
  ].join('\n'),

  async run(args, io) {
    const [verb, ...rest] = args;
    switch (verb) {
      case 'new':
        return create(rest, io);
      case 'check':
        return check(rest, io);
      case 'test':
        return test(rest, io);
      case 'dev':
        return dev(rest, io);
      case 'build':
        return build(rest, io);
      case 'pack':
        return pack(rest, io);
      case 'list':
        return list(rest, io);
      case 'approve':
      case 'enable':
        return decide(verb, rest, io);
      default:
        throw new UsageError('Name what to do: new, check, test, dev, build, pack, list, approve or enable.');
    }
  },
};

function folder(args: string[]): { directory: string; options: { json: boolean; out: string | undefined } } {
  const { options, positionals } = parseOptions(args, author);
  if (positionals.length > 1) throw new UsageError(`"${positionals[1]}" was not expected.`);
  return { directory: resolve(positionals[0] ?? '.'), options };
}

async function create(args: string[], io: CommandIo): Promise<number> {
  const { options, positionals } = parseOptions(args, { out: 'text' });
  const [name] = positionals;
  if (name === undefined || !/^[a-z][a-z0-9-]{0,31}$/.test(name)) {
    throw new UsageError('Give the plugin a name: lower-case letters, digits and dashes.');
  }
  const directory = resolve(options.out ?? name);
  const { scaffold } = await import('../plugins/authoring/scaffold.ts');
  let files: string[];
  try {
    files = scaffold(directory, name);
  } catch (error) {
    say(io, (error as Error).message);
    return 1;
  }
  for (const file of files) print(io, join(directory, file));
  say(io, `Next: jev-host plugin test ${directory}`);
  return 0;
}

async function check(args: string[], io: CommandIo): Promise<number> {
  const { directory, options } = folder(args);
  const { checkPlugin } = await import('../plugins/authoring/check.ts');
  const { manifest, bundle, findings, startMs } = await checkPlugin(directory);
  const failed = findings.some(({ level }) => level === 'error');
  if (options.json) {
    print(io, JSON.stringify({ ok: !failed, id: manifest?.id, characters: bundle?.code.length, startMs, findings }));
    return failed ? 1 : 0;
  }
  for (const { level, file, line, problem, mend } of findings) {
    print(io, `${file}:${line}  ${level}: ${problem}. To mend it: ${mend}.`);
  }
  if (!failed && manifest && bundle) {
    const asks = Object.keys(manifest.capabilities).join(', ') || 'nothing';
    print(
      io,
      `${manifest.id} ${manifest.version} is ready: ${bundle.code.length} characters, started in ${Math.round(startMs ?? 0)} ms, asks for ${asks}.`,
    );
  }
  return failed ? 1 : 0;
}

async function test(args: string[], io: CommandIo): Promise<number> {
  const { directory } = folder(args);
  const { runAuthorTests } = await import('../plugins/authoring/author-tests.ts');
  return runAuthorTests(directory, io);
}

async function dev(args: string[], io: CommandIo): Promise<number> {
  const { directory } = folder(args);
  const { develop } = await import('../plugins/authoring/dev.ts');
  await develop(directory, (line) => print(io, line), io.signal);
  return 0;
}

async function build(args: string[], io: CommandIo): Promise<number> {
  const { directory, options } = folder(args);
  const { buildArtifact } = await import('../plugins/authoring/artifact.ts');
  const artifact = await buildArtifact(directory, options.out === undefined ? undefined : resolve(options.out));
  if (options.json) print(io, JSON.stringify(artifact));
  else print(io, `${artifact.directory}  sha256 ${artifact.sha256}`);
  return 0;
}

async function pack(args: string[], io: CommandIo): Promise<number> {
  const { directory, options } = folder(args);
  const { packArtifact } = await import('../plugins/authoring/artifact.ts');
  const packed = await packArtifact(directory, resolve(options.out ?? directory));
  print(io, options.json ? JSON.stringify(packed) : `${packed.file}  ${packed.bytes} bytes, sha256 ${packed.sha256}`);
  return 0;
}

async function list(args: string[], io: CommandIo): Promise<number> {
  const { options } = parseOptions(args, { ...hostOptions, json: 'flag' });
  const host = await connectHost(options);
  try {
    const { plugins } = (await host.get('/admin/plugins')) as { plugins: PluginState[] };
    if (options.json) {
      print(io, JSON.stringify({ plugins }));
      return 0;
    }
    const rows = plugins.map((plugin) => [
      plugin.id,
      plugin.version,
      plugin.held && plugin.state !== 'held' ? `${plugin.state}, ${plugin.held.version} held` : plugin.state,
      plugin.tier,
      String(plugin.generation),
      String(plugin.runs),
      String(plugin.calls),
      String(plugin.crashes),
      `${Math.round(plugin.memoryBytes / 1024 / 1024)} MB`,
      plugin.grants.join(' ') || 'none',
    ]);
    print(
      io,
      textTable(
        ['plugin', 'version', 'state', 'tier', 'generation', 'runs', 'calls', 'crashes', 'memory', 'grants'],
        rows,
      ),
    );
    for (const { id, reason, held, warnings = [] } of plugins) {
      for (const warning of warnings) print(io, `${id}: ${plain(warning)}`);
      if (held)
        print(
          io,
          `${id} ${held.version} waits for approval (sha256 ${held.sha256}):\n${held.difference.map((line) => `  ${plain(line)}`).join('\n')}`,
        );
      else if (reason) print(io, `${id}: ${plain(reason)}`);
    }
    return 0;
  } finally {
    await host.close();
  }
}

async function decide(verb: 'approve' | 'enable', args: string[], io: CommandIo): Promise<number> {
  const { options, positionals } = parseOptions(args, { ...hostOptions, json: 'flag' });
  const [id] = positionals;
  if (id === undefined) throw new UsageError(`Name the plugin: jev-host plugin ${verb} ID.`);
  const host = await connectHost(options);
  try {
    const { plugin } = (await host.post(`/admin/plugins/${encodeURIComponent(id)}/${verb}`, {})) as {
      plugin: PluginState;
    };
    print(io, options.json ? JSON.stringify({ plugin }) : `${plugin.id} ${plugin.version} is ${plugin.state}.`);
    return plugin.state === 'serving' ? 0 : 1;
  } finally {
    await host.close();
  }
}
