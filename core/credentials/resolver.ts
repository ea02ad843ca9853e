/**
 * Turns a reference into the credential, at the moment of use. The result goes to a transport and nowhere else: it is
 * never stored, logged or returned to a caller.
 */
import { refuse } from '../../sdk/contract/errors.ts';
import { runCredentialCommand } from './credential-command.ts';
import { createFileReader } from './credential-file.ts';
import { credentialText } from './credential-text.ts';
import type { PrivateNames } from './private-names.ts';
import type { Redactor } from './redaction.ts';
import type { CredentialReference } from './reference.ts';

export interface CredentialResolver {
  /**
   * @throws CREDENTIAL_UNUSABLE naming the source, never the value.
   */
  resolve(reference: CredentialReference, options?: { signal?: AbortSignal }): Promise<string>;
  /** A credential that came another way; from now on no log shows it. */
  learn?(value: string): void;
  /** Commands answer once per generation of the configuration; this begins a new one. */
  forgetCommands(): void;
}

export interface ResolverDeps {
  /** The live environment of this process. */
  env: NodeJS.ProcessEnv;
  privateNames: PrivateNames;
  /** Learns every value, so that no log can show it. */
  redactor?: Redactor;
}

export function createCredentialResolver(deps: ResolverDeps): CredentialResolver {
  const answered = new Map<string, string>();
  const readFile = createFileReader();

  async function read(reference: CredentialReference, signal?: AbortSignal): Promise<string> {
    if ('file' in reference) return readFile(reference.file);
    if ('env' in reference) {
      const source = `environment variable ${reference.env}`;
      const value = Object.hasOwn(deps.env, reference.env) ? deps.env[reference.env] : undefined;
      if (value === undefined) refuse('CREDENTIAL_UNUSABLE', { source, problem: 'it is not set' });
      return credentialText(value, source);
    }
    const key = JSON.stringify(reference.command);
    const known = answered.get(key);
    if (known !== undefined) return known;
    const value = await runCredentialCommand(reference.command, {
      env: deps.env,
      privateNames: deps.privateNames,
      signal,
    });
    answered.set(key, value);
    return value;
  }

  return {
    async resolve(reference, options = {}) {
      if ('env' in reference) deps.privateNames.add([reference.env]);
      const value = await read(reference, options.signal);
      deps.redactor?.learn(value);
      return value;
    },
    learn(value) {
      deps.redactor?.learn(value);
    },
    forgetCommands() {
      answered.clear();
    },
  };
}
