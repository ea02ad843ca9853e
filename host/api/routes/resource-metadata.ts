/**
 * Protected-resource metadata (RFC 9728), which clients of the current protocol look for after a 401. Keys are handed out
 * by the operator, so no authorization server is named.
 */
import type { FastifyInstance } from 'fastify';
import type { ApiConfig } from '../config.ts';

export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource/mcp';

export function metadataRoutes(app: FastifyInstance, config: () => ApiConfig): void {
  for (const url of ['/.well-known/oauth-protected-resource', RESOURCE_METADATA])
    app.get(url, async (request) => ({
      resource: `${publicUrl(config(), request.headers.host)}/mcp`,
      resource_name: 'jev-host',
      bearer_methods_supported: ['header'],
      scopes_supported: ['read', 'write'],
    }));
}

/** The address that clients use. @param host of the request; it has passed the check of names, or is not repeated. */
export function publicUrl(config: ApiConfig, host: string | undefined): string {
  if (config.publicUrl !== undefined) return config.publicUrl.replace(/\/+$/, '');
  const known = /^[A-Za-z0-9.:[\]-]{1,255}$/.test(host ?? '') ? host : 'localhost';
  return `${config.tls ? 'https' : 'http'}://${known}`;
}
