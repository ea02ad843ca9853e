/**
 * One run: from the receipt on disk to the settled task.
 *
 * The order is the promise. Receipt first, then the connection, then the controller; every mutation through the fence,
 * whose checkpoint is on disk before it leaves; at the end the fence closes before anything is judged, so that no late
 * call can slip between the judgement and the record.
 */
import type { Permit } from '../../core/authorization/fences.ts';
import type { RunReceipt } from '../../core/receipts/receipt.ts';
import type { RunLedger } from '../../core/receipts/receipts.ts';
import type { TaskRecord, TaskRevision } from '../../core/receipts/task-record.ts';
import type { OwnerQuestion } from '../../sdk/contract/capabilities.ts';
import { type HostError, isHostError, refuse } from '../../sdk/contract/errors.ts';
import type { ThinkingReply, ThinkingRequest } from '../../sdk/contract/thinking.ts';
import type { Room } from './deps.ts';
import type { ControllerPorts, TargetTools, TaskTarget } from './ports.ts';
import { createRunProgress } from './progress-writer.ts';
import type { RunContext, RunEnd } from './run-end.ts';
import { browserInput } from './run-input.ts';
import { genuineQuestion } from './verifier-page.ts';

export type StopReason = NonNullable<RunContext['asked']>;

export interface RunningTask {
  readonly taskId: string;
  readonly requestId: string;
  /** Asks the controller to stop. The first reason stands; a cancellation replaces a softer one. */
  stop(reason: StopReason): void;
  /** Resolves when the run is over and its end is known. Never rejects. */
  readonly ended: Promise<{ end: RunEnd; context: RunContext }>;
}

/** Milliseconds between two looks at whether a run is still allowed. */
export const ACCESS_CHECK_MS = 200;

/** What a queued task needs to be dispatched, and a running one to go on. */
export function stillAllowed(room: Room, task: TaskRecord): boolean {
  const { browserTasks, computerTasks } = room.features();
  const enabled = task.target.adapter === 'browser' ? browserTasks : computerTasks;
  return enabled && room.jev.allowed(task.agentId) && room.authorization.may(task, 'write', task);
}

export interface RunStart {
  task: TaskRecord;
  revision: TaskRevision;
  receipt: RunReceipt;
  target: TaskTarget;
  pluginId: string;
  /** Called once the controller is about to be called. */
  launched(): void;
}

export function startRun(room: Room, start: RunStart): RunningTask {
  const { task, receipt, pluginId } = start;
  const { fences } = room.authorization;
  const permit = fences.permit([
    ...room.authorization.groundsOf(task),
    `plugin:${pluginId}`,
    `binding:${start.target.id}`,
    `connector:${start.target.connectorId}`,
  ]);
  const controller = new AbortController();
  let asked: StopReason | undefined;
  const stop = (reason: StopReason) => {
    if (asked === undefined || (reason === 'cancel' && asked !== 'revoked')) asked = reason;
    controller.abort(new Error(reason));
  };
  if (permit.signal.aborted || !permit.holds()) stop('revoked');
  permit.signal.addEventListener('abort', () => stop('revoked'), { once: true });
  // Keys that expire and switches of the configuration have no fence of their own: they are asked about.
  const watch = setInterval(() => {
    if (!stillAllowed(room, task)) stop('revoked');
  }, ACCESS_CHECK_MS);
  watch.unref();

  const run = new Run(room, start, permit, controller.signal);
  const ended = run.toEnd().then(async (end) => {
    const { mutations, independentlyVerified } = await run.close();
    permit.release();
    clearInterval(watch);
    return { end, context: { asked, mutations, independentlyVerified } };
  });
  return { taskId: task.taskId, requestId: receipt.requestId, stop, ended };
}

/** The state of one run: what it may still send, and what it was told by the verifier. */
class Run {
  private readonly room: Room;
  private readonly start: RunStart;
  private readonly permit: Permit;
  private readonly signal: AbortSignal;
  private readonly ledger: RunLedger;
  private readonly progress: ReturnType<typeof createRunProgress>;
  private tools: TargetTools | undefined;
  private over = false;
  private observed: Observed | undefined;
  private verifiedAt = Number.NEGATIVE_INFINITY;
  private mutatedAt = Number.NEGATIVE_INFINITY;
  /** Order of mutations and verifications; a clock can stand still between two of them. */
  private moment = 0;

  constructor(room: Room, start: RunStart, permit: Permit, signal: AbortSignal) {
    this.room = room;
    this.start = start;
    this.permit = permit;
    this.signal = signal;
    this.ledger = room.receipts.ledger(start.receipt);
    this.progress = createRunProgress(room.book, start.task);
  }

  /** Ends with the controller, its deadline, or the end of the grace after a stop. */
  async toEnd(): Promise<RunEnd> {
    const { runMs, graceMs } = this.room.runLimits;
    const deadline = AbortSignal.timeout(runMs);
    const signal = AbortSignal.any([this.signal, deadline]);
    let timer: NodeJS.Timeout | undefined;
    const graceOver = new Promise<RunEnd>((resolve) => {
      const begin = () => {
        timer ??= setTimeout(() => resolve({ kind: 'unresponsive' }), graceMs);
      };
      if (signal.aborted) begin();
      else signal.addEventListener('abort', begin, { once: true });
    });
    const end = await Promise.race([this.call(signal), graceOver]);
    clearTimeout(timer);
    return end;
  }

  /** From here on nothing leaves any more. */
  async close() {
    this.over = true;
    await this.progress.flushed();
    const mutations = await this.ledger.close();
    await this.tools?.close().catch(() => {});
    return { mutations, independentlyVerified: this.verifiedAt > this.mutatedAt };
  }

  private readonly allowed = (): boolean =>
    !this.over && this.permit.holds() && stillAllowed(this.room, this.start.task);

  private async call(signal: AbortSignal): Promise<RunEnd> {
    const { task, revision, target, pluginId, receipt } = this.start;
    try {
      this.tools = await this.room.targets.open(
        target,
        async (mutation) => {
          if (this.over || signal.aborted) refuse('BROWSER_CHECKPOINT_UNAVAILABLE', { problem: 'the run is ending' });
          await this.ledger.checkpoint(mutation);
          this.mutatedAt = ++this.moment;
        },
        this.allowed,
        (note) => this.ledger.settle(note.operationId, note.outcome),
      );
      if (signal.aborted) return { kind: 'error', code: 'TASK_CANCELLED' };
      this.start.launched();
      const thinking = this.room.thinking?.forRun(authorityOf(task));
      const offered = thinking && this.room.thinking?.offers();
      const input = browserInput(task, revision, target, {
        features: this.room.features(),
        thinking: offered ?? { textHelper: false, verifier: false },
        ...(task.interaction === undefined ? {} : { interactionContext: task.interaction }),
      });
      const value = await this.room.plugins.run(pluginId, {
        runId: receipt.requestId,
        input,
        ports: this.ports(thinking),
        authority: authorityOf(task),
        signal,
        deadlineMs: this.room.runLimits.runMs,
      });
      return { kind: 'result', value };
    } catch (error) {
      return { kind: 'error', code: isHostError(error) ? codeOf(error) : 'ADAPTER_FAILURE' };
    }
  }

  private ports(thinking: ControllerPorts['assist'] | undefined): ControllerPorts {
    const { task, pluginId } = this.start;
    const caller = {
      principalId: task.principalId,
      agentId: task.agentId,
      sessionId: task.sessionId,
      taskId: task.taskId,
    };
    return {
      evaluate: async (request, signal) => {
        if (!this.allowed()) refuse('JEV_ACCESS_DENIED', {});
        const evaluated = await this.room.jev.evaluate(
          request,
          { ...caller, consumer: 'controller', pluginId },
          { signal },
        );
        if (!this.allowed()) refuse('JEV_ACCESS_DENIED', {});
        return evaluated;
      },
      callTool: async (name, args, signal) => {
        const tools = this.tools;
        if (!tools || this.over) return refuse('BROWSER_REQUEST_ENDED', {});
        const reply = await tools.call(name, args, signal);
        if (name === 'page_observe' && !reply.isError)
          this.observed = { text: reply.content[0]?.text, moment: ++this.moment };
        return reply;
      },
      progress: (event) => this.progress.report(event),
      ask: (question, signal) => this.ask(question, signal),
      confirm: async (question, signal) => {
        const text = `${question.text} (yes or no)`;
        return isYes(await this.ask({ ...question, text }, signal));
      },
      ...(thinking ? { assist: (request, signal) => this.assist(thinking, request, signal) } : {}),
    };
  }

  private async ask(question: OwnerQuestion, signal: AbortSignal): Promise<string> {
    if (!this.allowed()) refuse('CAPABILITY_DENIED', { capability: 'task' });
    const answer = await this.room.questions.put(this.room, this.start.task, question, signal);
    if (!this.allowed()) refuse('CAPABILITY_DENIED', { capability: 'task' });
    return answer;
  }

  private async assist(
    ask: NonNullable<ControllerPorts['assist']>,
    request: ThinkingRequest,
    signal: AbortSignal,
  ): Promise<ThinkingReply> {
    if (!this.allowed()) refuse('CAPABILITY_DENIED', { capability: 'thinking.assist' });
    if (request.kind !== 'verify') return ask(request, signal);
    const { text, moment = 0 } = this.observed ?? {};
    const question = genuineQuestion(request, this.start.revision.instructions, text);
    const reply = await ask(question ?? request, signal);
    // A page that has been acted on since is not the one that was judged.
    const counts = question !== undefined && moment > this.mutatedAt && reply.verified === true;
    this.verifiedAt = counts ? ++this.moment : Number.NEGATIVE_INFINITY;
    return reply;
  }
}

/** Anything but a plain yes is a no: what is not understood is not consent. */
const isYes = (answer: string): boolean => /^\s*(?:yes|y|ok|okay|ใช่|ครับ|ค่ะ|ตกลง)\s*[.!]?\s*$/i.test(answer);

interface Observed {
  text: string | undefined;
  moment: number;
}

/** A plugin that threw a code of its own is told by that code. */
function codeOf({ code, details }: HostError): string {
  const { cause } = details;
  return code === 'PLUGIN_FAILED' && typeof cause === 'string' && /^[A-Z][A-Z0-9_]{2,80}$/.test(cause) ? cause : code;
}

const authorityOf = ({ principalId, agentId, conversationId, taskId }: TaskRecord) => ({
  ...{ principalId, agentId, conversationId, taskId },
});
