/** All tools of the endpoint, in one order that never varies with the connection. */
import type { ApiDeps } from '../ports.ts';
import type { QuestionAgenda } from '../question-agenda.ts';
import { capabilitiesTool } from './capabilities-tool.ts';
import { contributedTools } from './contributed-tools.ts';
import { jevTool } from './jev-tool.ts';
import { questionTool } from './question-tool.ts';
import { taskTools } from './task-tools.ts';
import type { Tool } from './tool.ts';

export interface Catalog {
  list(): Tool[];
  find(name: string): Tool | undefined;
}

export function createCatalog(
  deps: Pick<ApiDeps, 'tasks' | 'jev' | 'plugins' | 'now' | 'access'>,
  agenda: QuestionAgenda,
): Catalog {
  const contributed = contributedTools(deps.plugins);
  const own: Tool[] = [
    jevTool(deps.jev, deps.access),
    capabilitiesTool(deps.tasks, () => list().map(({ description }) => description)),
    ...taskTools(deps.tasks, agenda.status, deps.now),
    questionTool(agenda),
  ];
  const names = new Set(own.map(({ description }) => description.name));
  function list(): Tool[] {
    // A plugin cannot take the place of a tool of the host, nor of a plugin that came before it.
    const seen = new Set(names);
    const added = contributed().filter(({ description }) => !seen.has(description.name) && seen.add(description.name));
    return [...own, ...added.sort((a, b) => (a.description.name < b.description.name ? -1 : 1))];
  }
  return { list, find: (name) => list().find(({ description }) => description.name === name) };
}
