/** `jev-host plugin dev`: runs a plugin on the pages of its dev.json, again after every change, and prints each decision. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { HostError } from '../../../sdk/contract/errors.ts';
import { type AnswerFor, resultFor } from '../../../sdk/testing/evaluators.ts';
import { runPlugin } from '../../../sdk/testing/run-plugin.ts';
import { type ScriptedPage, scriptedBrowser } from '../../../sdk/testing/scripted-browser.ts';
import type { RunPorts } from '../ports.ts';
import { watchFolder } from '../watch-folder.ts';

const DevPage = v.strictObject({
  /** The adapter's input; the scripted tab's scope and the contract's version are added. */
  input: v.record(v.string(), v.unknown()),
  pages: v.record(v.string(), v.looseObject({ url: v.string() })),
  /** Answers by question: an option, a number, or a table of probabilities. */
  answers: v.optional(v.record(v.string(), v.union([v.string(), v.number(), v.record(v.string(), v.number())])), {}),
});

/** Runs once, prints what happened, and waits for changes until the signal aborts. */
export async function develop(directory: string, write: (line: string) => void, signal: AbortSignal): Promise<void> {
  let running = runOnce(directory, write);
  await running;
  write('Waiting for changes.');
  const close = watchFolder(directory, () => {
    running = running.then(() => {
      write('');
      return runOnce(directory, write);
    });
  });
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  close();
  await running;
}

export async function runOnce(directory: string, write: (line: string) => void): Promise<void> {
  try {
    const { input, pages, answers } = v.parse(DevPage, JSON.parse(readFileSync(join(directory, 'dev.json'), 'utf8')));
    const browser = scriptedBrowser({ pages: pages as unknown as Record<string, ScriptedPage> });
    const result = await runPlugin({
      plugin: directory,
      tier: 'worker',
      input: { contractVersion: 1, scope: browser.scope, ...input },
      ports: printed(browser.callTool, answers as Record<string, AnswerFor>, write),
      log: ({ level, text }) => write(`  ${level.padEnd(5)} ${text}`),
    });
    write(`result  ${JSON.stringify(result)}`);
    write(`page    ${browser.done.length > 0 ? browser.done.join(', ') : 'nothing was done'}`);
  } catch (error) {
    write(
      `failed  ${error instanceof HostError ? `${error.code}: ${error.message}` : String((error as Error).message)}`,
    );
  }
}

function printed(
  callTool: NonNullable<RunPorts['callTool']>,
  answers: Record<string, AnswerFor>,
  write: (line: string) => void,
): RunPorts {
  return {
    async evaluate(request) {
      const started = performance.now();
      const offered = Object.fromEntries(
        Object.entries(answers).filter(([id]) => Object.hasOwn(request.questions, id)),
      );
      const result = resultFor(request, offered);
      for (const [id, answer] of Object.entries(result.answers)) {
        const chosen =
          'choice' in answer
            ? `${answer.choice} ${answer.probabilities[answer.choice]?.toFixed(2)}`
            : JSON.stringify(answer);
        write(`decide  ${id}: ${chosen}  (${(performance.now() - started).toFixed(1)} ms)`);
      }
      return result;
    },
    async callTool(name, args, signal) {
      const reply = await callTool(name, args, signal);
      const detail = [args.ref, args.text, args.url, args.direction]
        .filter((part) => typeof part === 'string')
        .join(' ');
      write(`call    ${name}${detail ? ` ${detail}` : ''}${reply.isError ? `  → ${reply.content[0]?.text}` : ''}`);
      return reply;
    },
    progress: (event) => write(`  progress ${JSON.stringify(event)}`),
    ask: async ({ text }) => {
      write(`ask     ${text}  → an empty answer`);
      return '';
    },
    confirm: async ({ text }) => {
      write(`confirm ${text}  → no`);
      return false;
    },
  };
}
