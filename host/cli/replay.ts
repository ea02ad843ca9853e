/** `jev-host replay`: repeats a recorded run offline, and says where the plugin now decides otherwise. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { HostError, refuse } from '../../sdk/contract/errors.ts';
import { PluginId } from '../../sdk/contract/manifest.ts';
import type { Recording } from '../../sdk/contract/recording.ts';
import { readConfig } from '../config/config-file.ts';
import type { ReplayDifference, Replayed } from '../plugins/recording/replay.ts';
import { type Command, print, say, UsageError } from './command.ts';
import { dataDirectoryOf } from './host-client.ts';
import { parseOptions } from './options.ts';
import { plain } from './text-table.ts';

export const command: Command = {
  name: 'replay',
  summary: 'Repeats a recorded run offline and names the first step that differs.',
  usage: [
    'Usage: jev-host replay FILE|ATTEMPT [--config FILE] [--data-dir DIR] [--plugin DIR] [--json]',
    '',
    'Runs the plugin as it is now, in its sandbox, with the recording in place of browser, model and clock. Nothing leaves the',
    'process. Exits with 0 if every step is what it was, and with 1 at the first that is not: its number, what it asked then,',
    'and what it asks now.',
    '',
    'FILE             A recording. Runs are recorded while `plugins.<id>.record` is true.',
    'ATTEMPT          The id of an attempt or a run, as `jev-host receipts show` prints it; needs --config or --data-dir.',
    '--plugin DIR     The plugin’s folder. Default: the one of the configuration, or the one that ships with the host.',
    '',
    'Example: jev-host replay task-0b0e… --config host.json',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, {
      config: 'text',
      'data-dir': 'text',
      plugin: 'text',
      json: 'flag',
    });
    const [run, ...more] = positionals;
    if (run === undefined || more.length > 0) throw new UsageError('Name one recording: its file or its attempt.');
    const recording = await recordingOf(run, options);
    const { directory, bundled } = await pluginFolder(recording.plugin.id, options);
    const { readManifest } = await import('../plugins/read-manifest.ts');
    const { loadBundle } = await import('../plugins/bundle/bundle.ts');
    const { replayRun } = await import('../plugins/recording/replay.ts');
    const { threadTier } = await import('../plugins/thread-tier.ts');
    const { processTier } = await import('../plugins/process-tier.ts');
    const manifest = readManifest(directory);
    const replayed = await replayRun({
      recording,
      manifest,
      bundle: await loadBundle(directory, manifest.entry, bundled),
      tier: bundled ? threadTier : processTier,
    });
    const versions = { recorded: recording.plugin.version, now: manifest.version };
    if (options.json) print(io, JSON.stringify({ plugin: manifest.id, versions, ...replayed }));
    else print(io, sentence(replayed));
    if (versions.recorded !== versions.now)
      say(io, `Recorded with ${manifest.id} ${plain(versions.recorded)}, replayed with ${versions.now}.`);
    return replayed.same ? 0 : 1;
  },
};

type Where = { config: string | undefined; 'data-dir': string | undefined; plugin: string | undefined };

async function recordingOf(run: string, where: Where): Promise<Recording> {
  const { findRecording, openRecording } = await import('../plugins/recording/recordings.ts');
  const isFile = statSync(run, { throwIfNoEntry: false })?.isFile() === true;
  const named = where.config !== undefined || where['data-dir'] !== undefined;
  const path = isFile ? run : named ? findRecording(await dataDirectoryOf(where), run) : undefined;
  if (path === undefined) return refuse('RECORDING_NOT_FOUND', { run: plain(run) });
  try {
    return openRecording(path);
  } catch (error) {
    throw new HostError('RECORDING_INVALID', { problem: (error as Error).message });
  }
}

/** A recording names a plugin by its id; where that lies is for the operator to say, never for the file. */
async function pluginFolder(id: string, where: Where): Promise<{ directory: string; bundled: boolean }> {
  if (where.plugin !== undefined) return { directory: where.plugin, bundled: false };
  const configured = where.config === undefined ? undefined : (await readConfig(where.config)).plugins[id]?.path;
  if (configured !== undefined) return { directory: configured, bundled: false };
  const directory = join(import.meta.dirname, '../../plugins', id);
  if (!v.is(PluginId, id) || !existsSync(join(directory, 'plugin.json')))
    refuse('REPLAY_PLUGIN_UNKNOWN', { plugin: plain(id).slice(0, 64) });
  return { directory, bundled: true };
}

function sentence({ difference, decisions, calls, partial }: Replayed): string {
  if (difference) return different(difference);
  const went = `${calls} calls, ${decisions} decisions among them, are the same`;
  return partial ? `${went}; there the recording breaks off.` : `${went}, and so is the end.`;
}

function different({ step, decision, call, path, before, now }: ReplayDifference): string {
  const where = decision === undefined ? `Step ${step} (${call})` : `Step ${step}, decision ${decision} (${call})`;
  const at = path ? ` at ${plain(path)}` : '';
  return [`${where} differs${at}.`, `  then: ${plain(before)}`, `  now:  ${plain(now)}`].join('\n');
}
