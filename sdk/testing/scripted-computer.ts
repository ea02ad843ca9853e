/**
 * A computer device in memory: applications with windows and controls, the replies of the wire contract, and faults on demand.
 *
 * It keeps the contract's own rules (lease, generations, operation ids that are never used twice, a record of every
 * operation), so a controller that works here meets a real device's answers.
 */
import type { ToolReply } from '../contract/capabilities.ts';
import {
  COMPUTER_MUTATION,
  type ComputerControl,
  type ComputerObservation,
  type ComputerOperationStatus,
  type ComputerScope,
  type standardCommands,
  standardRef,
} from '../devices/remote-computer-contract.ts';
import { faultList, ONE_PIXEL, type ScriptedFault, toolReply } from './scripted-faults.ts';

export interface ScriptedControl extends Partial<ComputerControl> {
  ref: string;
  label: string;
  /** Name of the window that a press leads to. */
  goto?: string;
  /** Runs when the control was pressed or typed into, before any `goto`. */
  then?(computer: ScriptedComputerState): void;
}

export interface ScriptedWindow {
  /** Id of the application that shows it, such as `org.gnome.Calculator`. */
  application: string;
  title?: string;
  text?: readonly string[];
  controls?: readonly ScriptedControl[];
  /** Standard commands that the device answers here. */
  standard?: readonly (typeof standardCommands)[number][];
}

/** What a window's own behaviour may change. */
export interface ScriptedComputerState {
  /** Name of the window in front. */
  window: string;
  /** Text that the window shows besides its own. */
  addText(text: string): void;
  /** Text of a control, by ref. */
  values: Map<string, string>;
}

export interface ScriptedComputerOptions {
  windows: Record<string, ScriptedWindow>;
  /** Name of the window in front at first. Default: the first of `windows`. */
  start?: string;
  /** As on the scripted browser. */
  faults?: readonly ScriptedFault[];
  /** An operation of an earlier run whose outcome nobody knows: the computer cannot be taken. */
  stuck?: string;
  contractVersion?: number | string;
}

export interface ScriptedComputer {
  readonly scope: ComputerScope;
  /** Serves as the `callTool` port of a run. */
  callTool(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolReply>;
  readonly calls: { name: string; args: Record<string, unknown> }[];
  /** Actions that were really done, in order: `press save`. */
  readonly done: string[];
  readonly state: ScriptedComputerState;
  leaseHeld(): boolean;
}

const SCOPE: ComputerScope = {
  device_id: '00000000-0000-4000-8000-00000000000d',
  grant_id: '00000000-0000-4000-8000-00000000000e',
};
const LEASE = 'scripted-lease';

class Refused extends Error {}

export function scriptedComputer(options: ScriptedComputerOptions): ScriptedComputer {
  const strike = faultList(options.faults);
  const calls: ScriptedComputer['calls'] = [];
  const done: string[] = [];
  const records = new Map<string, Pick<ComputerOperationStatus, 'state' | 'error'>>();
  const extraText = new Map<string, string[]>();
  let generation = 1;
  let held = false;

  const state: ScriptedComputerState = {
    window: options.start ?? Object.keys(options.windows)[0] ?? '',
    values: new Map(),
    addText: (text) => extraText.set(state.window, [...(extraText.get(state.window) ?? []), text]),
  };
  const current = (): ScriptedWindow => {
    const found = options.windows[state.window];
    if (!found) throw new Error(`The scripted computer has no window "${state.window}".`);
    return found;
  };

  function observe(command: unknown): ComputerObservation {
    const { application, title, text = [], controls = [], standard = [] } = current();
    const known = standard.find((name) => name === command);
    const ids = [...new Set(Object.values(options.windows).map((window) => window.application))];
    const shown = controls.map((control) => observed(control, state.values.get(control.ref)));
    return {
      contractVersion: options.contractVersion ?? 1,
      generation: `g${generation}`,
      application,
      controls: known
        ? [...shown, { ref: standardRef(known), label: known, role: 'AXButton', actions: ['press' as const] }]
        : shown,
      truncated: false,
      apps: ids.map((id) => ({ id, name: id.split('.').at(-1) ?? id })),
      windowTitle: title ?? state.window,
      text: [...text, ...(extraText.get(state.window) ?? [])],
      ...(known ? { standardCommand: known } : {}),
      supportedActions: ['scroll:up', 'scroll:down'],
      capabilities: { standardCommands: [...standard], keys: ['backspace'] },
      screenshotAvailable: true,
    };
  }

  function act(args: Record<string, unknown>): void {
    if (args.kind === 'open') {
      const found = Object.entries(options.windows).find(([, window]) => window.application === args.app_id);
      if (!found) throw new Refused('APPLICATION_NOT_ALLOWED');
      state.window = found[0];
    } else if (args.kind === 'press' || args.kind === 'type') {
      const { standard = [], controls = [] } = current();
      if (args.kind === 'press' && standard.some((name) => standardRef(name) === args.ref)) return;
      const control = controls.find(({ ref }) => ref === args.ref);
      if (!control) throw new Refused('STALE_OBSERVATION');
      if (!observed(control, undefined).actions.includes(args.kind)) throw new Refused('UNSUPPORTED_ACTION');
      if (args.kind === 'type') state.values.set(control.ref, String(args.text));
      control.then?.(state);
      if (args.kind === 'press' && control.goto !== undefined) state.window = control.goto;
    } else if (!['key', 'scroll', 'navigate'].includes(String(args.kind))) throw new Refused('UNSUPPORTED_ACTION');
  }

  function serve(name: string, args: Record<string, unknown>): Record<string, unknown> {
    const operationId = typeof args.operation_id === 'string' ? args.operation_id : '';
    for (const [key, value] of Object.entries(SCOPE)) if (args[key] !== value) throw new Refused('CONSENT_REQUIRED');
    if (name === 'computer_operation_status') {
      const record = records.get(operationId);
      return record ? { operation_id: operationId, ...record } : { state: 'not_found' };
    }
    if (name === 'computer_acquire') {
      if (options.stuck !== undefined) return { recovery_required: true, operation_id: options.stuck };
      held = true;
      return { lease_token: LEASE };
    }
    if (!held || args.lease_token !== LEASE) throw new Refused('COMPUTER_NOT_OWNED');
    if (name === 'computer_release') {
      held = false;
      return {};
    }
    if (name === 'computer_observe') return { ...observe(args.standard_command) };
    const stale = args.generation !== `g${generation}`;
    if (name === 'computer_screenshot') {
      if (stale) throw new Refused('STALE_OBSERVATION');
      return { generation: `g${generation}`, mimeType: 'image/png', data: ONE_PIXEL, capturedAt: 0 };
    }
    if (name !== COMPUTER_MUTATION || operationId === '') throw new Refused('INVALID_REQUEST');
    // An id that was used says what became of it then; nothing is done again.
    const before = records.get(operationId);
    if (before) return { ...before };
    try {
      if (stale) throw new Refused('STALE_OBSERVATION');
      act(args);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      records.set(operationId, { state: 'not_executed', error: error.message });
      return { state: 'not_executed', error: error.message };
    }
    records.set(operationId, { state: 'completed' });
    generation += 1;
    done.push([args.kind, args.ref ?? args.app_id ?? args.key ?? args.direction].join(' '));
    return { state: 'completed' };
  }

  return {
    scope: SCOPE,
    calls,
    done,
    state,
    leaseHeld: () => held,
    async callTool(name, args, signal) {
      signal.throwIfAborted();
      calls.push({ name, args });
      const { does } = strike(name) ?? {};
      if (does === 'hang')
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if (does === 'stale') {
        const refused = { state: 'not_executed' as const, error: 'STALE_OBSERVATION' };
        if (name !== COMPUTER_MUTATION) return toolReply({ error: refused.error }, true);
        records.set(String(args.operation_id), refused);
        return toolReply(refused);
      }
      if (typeof does === 'object') return toolReply(does, 'error' in does && !('state' in does));
      try {
        const body = serve(name, args);
        if (does === 'lost') throw new Error('The connection to the device was lost.');
        if (does === 'unknown') {
          records.set(String(args.operation_id), { state: 'unknown' });
          return toolReply({ state: 'unknown' });
        }
        return toolReply(body);
      } catch (error) {
        if (error instanceof Refused) return toolReply({ error: error.message }, true);
        throw error;
      }
    },
  };
}

function observed(
  { goto: _goto, then: _then, ...control }: ScriptedControl,
  value: string | undefined,
): ComputerControl {
  const typed = control.role !== undefined && /^AX(?:TextField|TextArea|SearchField|ComboBox)$/.test(control.role);
  return {
    role: 'AXButton',
    ...control,
    actions: control.actions ?? (typed ? ['type'] : ['press']),
    ...(value === undefined ? {} : { value }),
  };
}
