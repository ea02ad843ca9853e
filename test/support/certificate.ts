/** A certificate for this machine's own name, signed by itself. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export function selfSigned(folder: string, name = 'server'): { certFile: string; keyFile: string } {
  const [certFile, keyFile] = [join(folder, `${name}-cert.pem`), join(folder, `${name}-key.pem`)];
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', keyFile, '-out', certFile],
    ],
    { stdio: 'ignore' },
  );
  return { certFile, keyFile };
}
