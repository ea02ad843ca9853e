/** What a run is told: the goal, the exact tab, the known field values and the limits. */
import type { TaskRecord, TaskRevision } from '../../core/receipts/task-record.ts';
import { splitSteps } from '../../sdk/commands/steps.ts';
import type { BrowserField } from '../../sdk/contract/browser-run.ts';
import type { Features, TaskTarget } from './ports.ts';

export interface InputContext {
  features: Features;
  /** What the host can do for the run through Thinking. */
  thinking: { textHelper: boolean; verifier: boolean; action?: boolean };
  interactionContext?: string;
}

export function browserInput(task: TaskRecord, revision: TaskRevision, target: TaskTarget, context: InputContext) {
  const first = revision.mode === 'spawn';
  // A start address belongs to the first dispatch, whichever revision that is; an answer resumes the page as it is.
  const startUrl = !task.started && revision.answers.length === 0 ? task.target.startUrl : undefined;
  return {
    contractVersion: 1 as const,
    goal: revision.instructions,
    scope: target.scope,
    fields: mergeFields(target.fields ?? [], revision.fields),
    ...target.budget,
    ...(startUrl === undefined ? {} : { startUrl }),
    ...(first ? { sessionStart: true } : {}),
    ...(revision.directCommand ? { command: true } : {}),
    ...(revision.confirmation
      ? { confirmation: { command: revision.confirmation.command, label: revision.confirmation.label } }
      : {}),
    ...stepsOf(revision, context.features),
    ...(revision.agentHandoff ? { agentCommand: true } : {}),
    ...(revision.guidance === undefined ? {} : { guidance: revision.guidance }),
    ...(context.interactionContext === undefined ? {} : { interactionContext: context.interactionContext }),
    ...(context.features.images ? { images: true } : {}),
    ...(context.thinking.verifier ? { verifier: true } : {}),
    ...(context.thinking.action ? { thinkingAction: true } : {}),
    ...(context.thinking.textHelper ? { textHelper: true } : {}),
  };
}

/**
 * The owner's own words as steps, where they are a list. Answers, guidance and the agent's command for a handed-off
 * utterance keep to one command, as does the reply to a question.
 */
function stepsOf(revision: TaskRevision, { browserSteps }: Features): { steps?: string[] } {
  const { answers, guidance, agentHandoff, confirmation, correction, mode } = revision;
  const plain = mode === 'spawn' || mode === 'when_ready' || mode === 'interrupt_and_resume' || mode === 'command';
  if (!browserSteps || !plain || answers.length > 0 || guidance !== undefined) return {};
  if (agentHandoff || confirmation || correction) return {};
  const steps = splitSteps(revision.instructions);
  return steps ? { steps } : {};
}

/** Fields that one run may carry. */
const MAX_FIELDS = 60;

/** Later values win; labels are compared as people read them. */
export function mergeFields(known: readonly BrowserField[], added: readonly BrowserField[]): BrowserField[] {
  const byLabel = new Map<string, BrowserField>();
  for (const field of [...known, ...added]) byLabel.set(labelKey(field.label), field);
  return [...byLabel.values()].slice(-MAX_FIELDS);
}

const labelKey = (label: string): string => label.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
