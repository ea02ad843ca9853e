/** `jev-host doctor`: looks at everything that a host needs, without a paid request and without changing anything. */
import { statfs } from 'node:fs/promises';
import { readConfig } from '../config/config-file.ts';
import { InvalidConfig } from '../config/problems.ts';
import type { HostConfig } from '../config/schema.ts';
import { dataDirectory } from '../data-directory.ts';
import { type Command, print, say, UsageError } from './command.ts';
import { type Check, type Finding, fail, ok } from './doctor/check.ts';
import { connectors } from './doctor/connector-checks.ts';
import {
  browserTasks,
  jevAgents,
  jevCredential,
  jevEnabled,
  jevEndpoint,
  privateVariables,
} from './doctor/jev-checks.ts';
import { machineChecks } from './doctor/machine-checks.ts';
import { plugins } from './doctor/plugin-checks.ts';
import { needed, parseOptions } from './options.ts';

const CHECKS: readonly Check[] = [
  jevEnabled,
  jevCredential,
  jevEndpoint,
  jevAgents,
  browserTasks,
  privateVariables,
  ...machineChecks,
  plugins,
  connectors,
];

export const command: Command = {
  name: 'doctor',
  summary: 'Checks the configuration, the credentials and the machine.',
  usage: [
    'Usage: jev-host doctor --config FILE [--data-dir DIR] [--json]',
    '',
    'Every check has an id, a verdict (ok, warn, fail, skip), and what to do. Nothing is changed, no evaluation is made and',
    'no credential is sent anywhere, so a key that can be read may still be refused by the provider.',
    'Exits with 1 when a check fails; warnings alone exit with 0.',
    '',
    '--config FILE    The configuration of the host.',
    '--data-dir DIR   Overrides dataDir.',
    '--json           Prints { "ok": …, "checks": [{ "id", "verdict", "says", "next" }] }.',
  ].join('\n'),

  async run(args, io) {
    const { options, positionals } = parseOptions(args, { config: 'text', 'data-dir': 'text', json: 'flag' });
    if (positionals.length > 0) throw new UsageError(`"${positionals[0]}" was not expected.`);
    const configFile = needed(options.config, 'config');
    const findings = await examine(configFile, options['data-dir'], io.env);
    const good = findings.every(({ verdict }) => verdict !== 'fail');
    if (options.json) {
      print(io, JSON.stringify({ ok: good, checks: findings }));
    } else {
      for (const { id, verdict, says, next } of findings) {
        print(io, `${verdict.padEnd(5)} ${id.padEnd(28)} ${says}`);
        if (next !== undefined) print(io, `${' '.repeat(35)}${next}`);
      }
      const failed = findings.filter(({ verdict }) => verdict === 'fail').length;
      say(io, good ? 'Nothing failed.' : `${failed} ${failed === 1 ? 'check' : 'checks'} failed.`);
    }
    return good ? 0 : 1;
  },
};

async function examine(configFile: string, dataDir: string | undefined, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  let config: HostConfig;
  try {
    config = await readConfig(configFile);
  } catch (error) {
    if (!(error instanceof InvalidConfig)) throw error;
    return error.problems.map(({ path, says }) =>
      fail(
        'config',
        path === '' ? says : `${path}: ${says}`,
        'Correct the entry. "jev-host config schema" lists the allowed keys.',
      ),
    );
  }
  const patient = {
    config,
    configFile,
    dataDir: dataDirectory({ argument: dataDir, configured: config.dataDir, configFile, env }),
    env,
    now: Date.now,
    nodeVersion: process.versions.node,
    async freeBytes(directory: string) {
      const { bavail, bsize } = await statfs(directory);
      return bavail * bsize;
    },
  };
  const findings = [ok('config', `${configFile} is valid.`)];
  for (const check of CHECKS) findings.push(...(await check(patient)));
  return findings;
}
