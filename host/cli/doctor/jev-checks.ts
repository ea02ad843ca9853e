/** Whether evaluations could be made: without making one, and without asking the provider anything. */
import { stat } from 'node:fs/promises';
import { READABLE_BY_OTHERS, readCredentialFile } from '../../../core/credentials/credential-file.ts';
import { PrivateNames, privateNamesIn } from '../../../core/credentials/private-names.ts';
import { createCredentialResolver } from '../../../core/credentials/resolver.ts';
import { hasStoredLogin, storedLoginFile } from '../../../core/credentials/stored-login.ts';
import { jevAllowed } from '../../../core/jev/access.ts';
import { jevPrivateNames, TYPESAFE_KEY_NAME } from '../../../core/jev/config.ts';
import { evaluationEndpoint, TYPESAFE_BASE } from '../../../core/jev/endpoint.ts';
import { resolveIdentity } from '../../../core/jev/identity-group.ts';
import { readClaudeSettings } from '../../../core/jev/local-sources.ts';
import { isHostError } from '../../../sdk/contract/errors.ts';
import { type Check, type Finding, fail, ok, type Patient, skip, warn } from './check.ts';

export const jevEnabled: Check = ({ config }) => {
  const jev = config.gateway.jev;
  if (jev?.enabled !== true) return [skip('jev.enabled', 'Jev is off; its other checks are left out.')];
  return [ok('jev.enabled', `Jev is on: provider ${jev.provider}, model ${jev.model}.`)];
};

/** Presence and readability only. A credential that is there may still be refused by the provider. */
export const jevCredential: Check = async (patient) => {
  const jev = patient.config.gateway.jev;
  if (jev?.enabled !== true) return [];
  const id = 'jev.credential';
  if (jev.provider === 'upstream' && jev.baseUrl === undefined) return [await upstreamIdentity(patient)];
  if (jev.apiKeyFile !== undefined) return keyFile(id, jev.apiKeyFile, 'gateway.jev.apiKeyFile');
  if (jev.apiKeyEnv !== undefined) return [await variable(id, jev.apiKeyEnv, patient)];
  const login = jev.provider === 'typesafe' && (await hasStoredLogin(patient.dataDir));
  if (login) return keyFile(id, storedLoginFile(patient.dataDir), 'the stored login');
  if (jev.provider === 'typesafe' && patient.env[TYPESAFE_KEY_NAME])
    return [await variable(id, TYPESAFE_KEY_NAME, patient)];
  if (jev.credentialCommand) {
    return [ok(id, `The command "${jev.credentialCommand[0]}" is named for the credential; it was not run.`)];
  }
  return [
    fail(
      id,
      'No credential is configured, stored, or set.',
      'Set gateway.jev.apiKeyFile, run "jev-host login jev", or set TYPESAFE_API_KEY in the service’s environment.',
    ),
  ];
};

async function upstreamIdentity({ env }: Patient): Promise<Finding> {
  const id = 'jev.credential';
  try {
    const { baseUrl } = resolveIdentity(await readClaudeSettings(env), env);
    const { origin, path } = evaluationEndpoint('upstream', baseUrl);
    return ok(id, `The upstream identity is complete; evaluations go to ${origin}${path}.`);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return fail(
      id,
      `The upstream identity cannot be used: ${error.details.problem ?? error.message}.`,
      'Complete the group in the Claude settings or in the service’s environment, or set gateway.jev.baseUrl with a credential of its own.',
    );
  }
}

async function variable(id: string, name: string, { env }: Patient): Promise<Finding> {
  const resolver = createCredentialResolver({ env, privateNames: new PrivateNames() });
  try {
    await resolver.resolve({ env: name });
    return ok(id, `The variable ${name} is set. Whether the provider accepts it was not asked.`);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return fail(
      id,
      error.message,
      `Set ${name} in the environment of the service itself; a variable of an interactive shell is not there.`,
    );
  }
}

async function keyFile(id: string, path: string, name: string): Promise<Finding[]> {
  try {
    await readCredentialFile(path);
  } catch (error) {
    if (!isHostError(error)) throw error;
    return [
      fail(
        id,
        error.message,
        `Correct ${name}: a file with the bare key that the service’s user can read (chmod 600).`,
      ),
    ];
  }
  const { mode } = await stat(path);
  const findings = [ok(id, `The key file ${path} can be read. Whether the provider accepts the key was not asked.`)];
  if (mode & READABLE_BY_OTHERS) {
    findings.push(
      warn(
        'jev.credential.permissions',
        `The key file ${path} can be read by other users of this machine.`,
        `Run: chmod 600 ${path}`,
      ),
    );
  } else findings.push(ok('jev.credential.permissions', 'Only its owner can read the key file.'));
  return findings;
}

export const jevEndpoint: Check = ({ config }) => {
  const jev = config.gateway.jev;
  if (jev?.enabled !== true || (jev.provider === 'upstream' && jev.baseUrl === undefined)) return [];
  const { origin, path } = evaluationEndpoint(jev.provider, jev.baseUrl ?? TYPESAFE_BASE);
  return [ok('jev.endpoint', `Evaluations go to ${origin}${path}. It was not asked anything.`)];
};

export const jevAgents: Check = ({ config }) => {
  const jev = config.gateway.jev;
  if (jev?.enabled !== true) return [];
  const known = new Set(config.agents.map(({ id }) => id));
  const strangers = (jev.allowedAgentIds ?? []).filter((id) => !known.has(id));
  const may = config.agents.filter((agent) => jevAllowed(jev, agent.id, agent)).map(({ id }) => id);
  const findings: Finding[] = [];
  if (strangers.length > 0) {
    findings.push(
      warn(
        'jev.agents.unknown',
        `gateway.jev.allowedAgentIds names agents that do not exist: ${strangers.join(', ')}.`,
        'Correct the names, or add the agents.',
      ),
    );
  }
  findings.push(
    may.length > 0
      ? ok('jev.agents', `May use Jev: ${may.join(', ')}.`)
      : warn(
          'jev.agents',
          'No agent may use Jev.',
          'Check allowedAgentIds, and allow_tools and jev.enabled of each agent.',
        ),
  );
  return findings;
};

/** Browser tasks have two switches and need a browser; with one of them missing every task is refused without a word here. */
export const browserTasks: Check = ({ config }) => {
  const id = 'browser.tasks';
  const { jev, connectors } = config.gateway;
  if (jev?.features.browserTasks?.enabled !== true) return [skip(id, 'Browser tasks are off.')];
  if (!jev.enabled) return [warn(id, 'Browser tasks are on, but Jev is off.', 'Set gateway.jev.enabled to true.')];
  if (jev.browser === undefined) {
    return [
      warn(
        id,
        'gateway.jev.features.browserTasks is on, but gateway.jev.browser is missing: every browser task is refused.',
        'Add "browser": { "bindings": [] } to gateway.jev; with no bindings, tabs are found by themselves.',
      ),
    ];
  }
  const { browser } = config.devices as { browser?: { enabled?: boolean } };
  if (browser?.enabled !== true && connectors.length === 0 && jev.browser.bindings.length === 0) {
    return [
      warn(id, 'Browser tasks are on, but there is no browser.', 'Enable devices.browser, or add a connector to one.'),
    ];
  }
  return [ok(id, 'Browser tasks are on.')];
};

/** Credentials in the environment are inherited by everything that somebody starts by hand beside the host. */
export const privateVariables: Check = ({ config, env }) => {
  const names = new Set([...privateNamesIn(config), ...jevPrivateNames(config.gateway.jev), TYPESAFE_KEY_NAME]);
  const set = [...names].filter((name) => env[name] !== undefined && env[name] !== '');
  const used = new Set([...privateNamesIn(config), ...jevPrivateNames(config.gateway.jev)]);
  const id = 'environment.private';
  if (set.length === 0) return [ok(id, 'No private variable is set in this environment.')];
  return set.map((name) =>
    used.has(name)
      ? warn(
          id,
          `${name} holds a credential in this environment.`,
          'The host keeps it from its children. A key file avoids it altogether.',
        )
      : warn(
          id,
          `${name} is set although nothing here uses it.`,
          'Remove it from the service’s environment and restart.',
        ),
  );
};
