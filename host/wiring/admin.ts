/** What an operator reads across all principals. */
import type { DependencyContainer } from 'tsyringe';
import { createAuditLog } from '../../core/receipts/audit-log.ts';
import { verifyAudit } from '../../core/receipts/audit-verification.ts';
import { refuse } from '../../sdk/contract/errors.ts';
import type { Admin } from '../api/ports.ts';
import { PLUGINS, STORE } from '../tokens.ts';

export function adminReads(from: DependencyContainer): Admin {
  const store = from.resolve(STORE);
  const plugins = from.resolve(PLUGINS);
  const audit = createAuditLog(store);
  return {
    tasks: async () => refuse('NOT_FOUND'),
    receipts: async () => undefined,
    verifyAudit: async (head) => verifyAudit(store, head),
    audit: async (range) => [...audit.entries(range)],
    plugins: () => plugins.list(),
    approvePlugin: (pluginId) => plugins.approve(pluginId),
    enablePlugin: (pluginId) => plugins.enable(pluginId),
  };
}
