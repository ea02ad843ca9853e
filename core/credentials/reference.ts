/** Where a credential lies. The configuration holds only this; the value is read at the moment of use. */
import * as v from 'valibot';

/** Programs and the operating system read these themselves; borrowing one would take it from them, or lend them ours. */
const RESERVED =
  /^(?:ANTHROPIC_.*|CLAUDE_(?!GATEWAY_).*|OPENAI_.*|CODEX_.*|GEMINI_API_KEY|GOOGLE_API_KEY|GOOGLE_APPLICATION_CREDENTIALS|AWS_.*|AZURE_OPENAI_.*|GH_TOKEN|GITHUB_TOKEN|NPM_TOKEN|HOME|PATH|PWD|OLDPWD|SHELL|USER|LOGNAME|TERM|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|TMP|TEMP|HOSTNAME|IFS|ENV|BASH_ENV|LD_.*|DYLD_.*|NODE_.*|NPM_CONFIG_.*|XDG_.*|SSH_.*|DISPLAY|WAYLAND_DISPLAY|DBUS_.*|SSL_CERT_(?:FILE|DIR)|(?:HTTP|HTTPS|ALL|NO)_PROXY|__PROTO__)$/i;

/** @returns true for names that belong to a shell, a runtime, or another program's sign-in. */
function isReservedName(name: string): boolean {
  return RESERVED.test(name);
}

export const EnvironmentName = v.pipe(
  v.string(),
  v.maxLength(256),
  v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable'),
  v.check(
    (name) => !isReservedName(name),
    'a name of its own for this credential: that one belongs to the system or to another program',
  ),
);

export const CredentialFile = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));

/** A program and its arguments, started without a shell; its standard output is the credential. */
export const CredentialCommand = v.pipe(
  v.array(v.pipe(v.string(), v.maxLength(4096))),
  v.minLength(1),
  v.maxLength(64),
  v.check((argv) => argv[0] !== '', 'a program to start'),
);

export type CredentialReference =
  | { readonly file: string }
  | { readonly env: string }
  | { readonly command: readonly string[] };
