/** `jev-host evaluator`: the stand-in for the evaluation provider, on this machine. */
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { HostError } from '../../sdk/contract/errors.ts';
import type { Engine } from '../evaluator/engine.ts';
import { type FaultName, faults, isFaultName } from '../evaluator/faults.ts';
import { lexicalEngine } from '../evaluator/lexical/lexical-engine.ts';
import { openaiEngine } from '../evaluator/openai/openai-engine.ts';
import { Script, scriptEngine } from '../evaluator/script-engine.ts';
import { startEvaluator } from '../evaluator/server.ts';
import { type Command, print, say, UsageError } from './command.ts';
import { needed, parseOptions } from './options.ts';

const ENGINES = ['lexical', 'script', 'openai'] as const;

export const command: Command = {
  name: 'evaluator',
  summary: 'Runs a stand-in for the evaluation provider on this machine.',
  usage: [
    'Usage: jev-host evaluator [--engine lexical|script|openai] [--port N] [--rules FILE] [--latency-ms N]',
    '                          [--openai-url URL --openai-model NAME [--openai-key-file FILE]]',
    '                          [--key-file FILE] [--fault NAME[:TIMES]] [--list-faults]',
    '',
    'Speaks the wire contract of the evaluation provider (POST /v1/systemone, POST /v1/jev/evaluate, GET /v1/models,',
    'GET /healthz) on 127.0.0.1, and prints its address once it answers. It makes no paid request.',
    '',
    '--engine lexical   Compares words of the request. A rehearsal, not a model: it understands nothing and will be',
    '                   wrong where words mislead. It exists so that everything around a decision can be tried.',
    '--engine script    Answers from --rules FILE: { "rules": [{ "when": { "question", "contains", "asks" }, "answer",',
    '                   "probability", "times" }], "otherwise": "first" | "lexical" }. The first rule that fits wins.',
    '--engine openai    Asks a model behind any server of the OpenAI chat contract, such as one on this machine. Uses the',
    '                   probabilities of the first token where the server tells them, else a forced choice, and says',
    '                   which beside every answer (x_readout). State and questions are sent to that server.',
    '--openai-url URL   Up to the version, such as http://127.0.0.1:11434/v1.',
    '--port N           0 takes a free port (default: 0).',
    '--latency-ms N     Milliseconds that every answer waits.',
    '--key-file FILE    Requests must carry the key in this file. Without it any authorization is accepted.',
    '--fault NAME       Breaks every answer, or the next TIMES answers, in the named way. --list-faults lists them.',
    '                   A single request can ask for one with the header x-evaluator-fault.',
    '',
    'Example: jev-host evaluator --engine lexical --port 8787',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, {
      engine: 'text',
      port: 'text',
      rules: 'text',
      'openai-url': 'text',
      'openai-model': 'text',
      'openai-key-file': 'text',
      'latency-ms': 'text',
      'key-file': 'text',
      fault: 'text',
      'list-faults': 'flag',
    });
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" is not an option.`);
    if (options['list-faults']) {
      for (const [name, { says }] of Object.entries(faults)) print(io, `${name.padEnd(26)}${says}`);
      return 0;
    }
    const fault = readFault(options.fault);
    const keyFile = options['key-file'];
    const evaluator = await startEvaluator({
      engine: readEngine(options.engine ?? 'lexical', options),
      port: readNumber(options.port ?? '0', 'port', 65_535),
      latencyMs: readNumber(options['latency-ms'] ?? '0', 'latency-ms', 600_000),
      ...(keyFile === undefined ? {} : { apiKey: readText(keyFile, 'key-file').trim() }),
    });
    if (fault) evaluator.setFault(fault.name, fault.times);
    print(io, `jev-host evaluator ready ${evaluator.url}`);
    if ((options.engine ?? 'lexical') === 'lexical') {
      say(io, 'Engine: lexical. It rehearses by comparing words; it is not a model.');
    }
    if (!io.signal.aborted)
      await new Promise((resolve) => io.signal.addEventListener('abort', resolve, { once: true }));
    await evaluator.close();
    return 0;
  },
};

type EngineOptions = Record<'rules' | 'openai-url' | 'openai-model' | 'openai-key-file', string | undefined>;

function readEngine(name: string, options: EngineOptions): Engine {
  const { rules } = options;
  if (rules !== undefined && name !== 'script') throw new UsageError('--rules belongs to --engine script.');
  if (name === 'lexical') return lexicalEngine;
  if (name === 'openai') return readOpenai(options);
  if (name !== 'script') throw new UsageError(`--engine is one of ${ENGINES.join(', ')}.`);
  const file = needed(rules, 'rules');
  let script: unknown;
  try {
    script = JSON.parse(readText(file, 'rules'));
  } catch (error) {
    if (error instanceof SyntaxError) throw new HostError('INVALID_INPUT', { path: file, problem: 'it is not JSON' });
    throw error;
  }
  const parsed = v.safeParse(Script, script);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new HostError('INVALID_INPUT', {
      path: `${file}: ${v.getDotPath(issue) ?? 'rules'}`,
      problem: issue.message,
    });
  }
  return scriptEngine(script as Script);
}

function readOpenai(options: EngineOptions): Engine {
  const baseUrl = needed(options['openai-url'], 'openai-url');
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new UsageError('--openai-url is an http or https address.');
  }
  const keyFile = options['openai-key-file'];
  return openaiEngine({
    baseUrl,
    model: needed(options['openai-model'], 'openai-model'),
    ...(keyFile === undefined ? {} : { apiKey: readText(keyFile, 'openai-key-file').trim() }),
  });
}

function readFault(text: string | undefined): { name: FaultName; times: number } | undefined {
  if (text === undefined) return undefined;
  const [name, times] = text.split(':');
  if (!isFaultName(name)) throw new UsageError(`There is no fault "${name}"; --list-faults lists them.`);
  return { name, times: times === undefined ? Number.POSITIVE_INFINITY : readNumber(times, 'fault', 1_000_000) };
}

function readNumber(text: string, option: string, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > max) throw new UsageError(`--${option} is a number from 0 to ${max}.`);
  return number;
}

function readText(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `--${option}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`,
    );
  }
}
