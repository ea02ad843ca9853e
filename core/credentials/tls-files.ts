/** The certificate and key that a server of ours serves HTTPS with. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { HostError } from '../../sdk/contract/errors.ts';

export interface TlsFiles {
  certFile: string;
  keyFile: string;
}

/**
 * @param names what the two are called where they were given: keys of the configuration or options of a command.
 * @throws INVALID_CONFIG when a file cannot be read, is not PEM of its kind, or the two do not belong together.
 */
export function readTlsFiles(files: TlsFiles, names: TlsFiles): { cert: Buffer; key: Buffer } {
  const problem = (which: keyof TlsFiles, says: string) =>
    new HostError('INVALID_CONFIG', { path: names[which], problem: `${files[which]} ${says}` });
  const read = (which: keyof TlsFiles): Buffer => {
    try {
      return readFileSync(files[which]);
    } catch (error) {
      throw problem(which, `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
    }
  };
  const cert = read('certFile');
  const key = read('keyFile');
  const tried = (which: keyof TlsFiles, context: { cert: Buffer; key?: Buffer }): void => {
    try {
      createSecureContext(context);
    } catch (error) {
      // The library's own reason names the format, never the contents.
      const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown error';
      throw problem(which, `cannot be used (${reason})`);
    }
  };
  tried('certFile', { cert });
  tried('keyFile', { cert, key });
  return { cert, key };
}
