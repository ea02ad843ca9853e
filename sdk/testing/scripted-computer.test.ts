import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { remoteComputer } from '../devices/remote-computer.ts';
import { ComputerObservation } from '../devices/remote-computer-contract.ts';
import { stubEvaluator } from './evaluators.ts';
import { runPlugin } from './run-plugin.ts';
import { type ScriptedComputerOptions, scriptedComputer } from './scripted-computer.ts';
import type { ScriptedFault } from './scripted-faults.ts';

const desk = join(import.meta.dirname, '../../test/fixtures/plugins/desk');
const { signal } = new AbortController();
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

function notes(faults: ScriptedFault[] = [], over: Partial<ScriptedComputerOptions> = {}) {
  const device = scriptedComputer({
    windows: {
      form: {
        application: 'org.example.Notes',
        controls: [
          { ref: 'name', label: 'Name', role: 'AXTextField' },
          { ref: 'save', label: 'Save', goto: 'saved' },
        ],
        standard: ['tab:new'],
      },
      saved: { application: 'org.example.Notes', text: ['It is saved.'] },
      calculator: { application: 'org.example.Calculator' },
    },
    faults,
    ...over,
  });
  const tools = { call: (name: string, args: Record<string, unknown>) => device.callTool(name, args, signal) };
  return { device, computer: remoteComputer(tools, device.scope), tools };
}

async function pressed(faults: ScriptedFault[]) {
  const { device, computer } = notes(faults);
  await computer.acquire();
  const outcome = await computer.act(id(1), { kind: 'press', ref: 'save', generation: 'g1' });
  return { outcome, device, sent: device.calls.filter(({ name }) => name === 'computer_action').length };
}

describe('the scripted computer', () => {
  it('shows a window in the contract’s shape and moves on when a button is pressed', async () => {
    const { device, computer } = notes();
    expect(await computer.acquire()).toEqual({ ok: true });
    const seen = await computer.observe({ standardCommand: 'tab:new' });
    expect(seen).toMatchObject({ ok: true, value: { generation: 'g1', standardCommand: 'tab:new' } });
    expect(v.is(ComputerObservation, seen.ok ? seen.value : undefined)).toBe(true);
    const typed = await computer.act(id(1), { kind: 'type', ref: 'name', text: 'Ada', generation: 'g1' });
    expect(typed).toEqual({ outcome: 'confirmed' });
    await computer.act(id(2), { kind: 'press', ref: 'save', generation: 'g2' });
    expect(await computer.observe()).toMatchObject({ value: { text: ['It is saved.'], generation: 'g3' } });
    await computer.act(id(3), { kind: 'open', app_id: 'org.example.Calculator', generation: 'g3' });
    expect(await computer.observe()).toMatchObject({ value: { application: 'org.example.Calculator' } });
    expect(device.done).toEqual(['type name', 'press save', 'open org.example.Calculator']);
    await computer.release();
    expect(device.leaseHeld()).toBe(false);
  });

  it('does nothing without the lease, for another grant, on an old generation, or twice under one id', async () => {
    const { device, computer, tools } = notes();
    const press = { kind: 'press', ref: 'save' } as const;
    expect(await computer.act(id(1), { ...press, generation: 'g1' })).toMatchObject({ outcome: 'unknown' });
    await computer.acquire();
    expect(await computer.act(id(2), { ...press, generation: 'g0' })).toEqual({
      outcome: 'not_executed',
      code: 'STALE_OBSERVATION',
    });
    const other = remoteComputer(tools, { ...device.scope, grant_id: id(9) });
    expect(await other.observe()).toEqual({ ok: false, code: 'CONSENT_REQUIRED' });
    expect(device.done).toEqual([]);
    await computer.act(id(3), { ...press, generation: 'g1' });
    await computer.act(id(3), { ...press, generation: 'g2' });
    expect(device.done).toEqual(['press save']);
  });

  it('cannot be taken while an operation of unknown outcome is on record', async () => {
    const { computer } = notes([], { stuck: id(7) });
    expect(await computer.acquire()).toEqual({
      ok: false,
      code: 'COMPUTER_RECONCILIATION_REQUIRED',
      operationId: id(7),
    });
    expect(computer.leased).toBe(false);
  });

  it.each([
    [2, false],
    ['2.1', false],
    ['1.9', true],
    ['new', true],
  ])('speaks contract version %s: %s', async (contractVersion, ok) => {
    const { computer } = notes([], { contractVersion });
    await computer.acquire();
    expect(await computer.observe()).toMatchObject(ok ? { ok } : { ok, code: 'COMPUTER_CONTRACT_UNSUPPORTED' });
  });

  it('asks an older device again without the goal', async () => {
    const { device, computer } = notes([{ tool: 'computer_observe', does: { error: 'INVALID_REQUEST' } }]);
    await computer.acquire();
    expect(await computer.observe({ appQuery: 'Open the calculator' })).toMatchObject({ ok: true });
    expect(device.calls.slice(-2).map(({ args }) => args.app_query)).toEqual(['Open the calculator', undefined]);
  });
});

describe('the outcome of a computer’s action', () => {
  it('is read from the record when the reply was lost, and never sent again', async () => {
    const { outcome, device, sent } = await pressed([{ tool: 'computer_action', does: 'lost' }]);
    expect(outcome).toEqual({ outcome: 'confirmed' });
    expect(device.done).toEqual(['press save']);
    expect(sent).toBe(1);
  });

  it('stays unknown when the device does not know, or its record cannot be read', async () => {
    const unknown = await pressed([{ tool: 'computer_action', does: 'unknown' }]);
    expect(unknown.outcome).toEqual({ outcome: 'unknown', code: 'OUTCOME_UNKNOWN' });
    const unreadable: ScriptedFault = { tool: 'computer_operation_status', does: { error: 'NATIVE_FAILURE' } };
    const lost = await pressed([{ tool: 'computer_action', does: 'lost' }, unreadable, unreadable, unreadable]);
    expect(lost.outcome).toEqual({ outcome: 'unknown', code: 'OUTCOME_UNKNOWN' });
    expect([unknown.sent, lost.sent]).toEqual([1, 1]);
  });

  it.each([
    ['a refusal before dispatch', { error: 'COMPUTER_BUSY' }, { outcome: 'not_executed', code: 'COMPUTER_BUSY' }],
    ['a refusal that proves nothing', { error: 'NATIVE_IO_ERROR' }, { outcome: 'unknown', code: 'OUTCOME_UNKNOWN' }],
    ['a state that does not exist', { state: 'done' }, { outcome: 'unknown', code: 'OUTCOME_UNKNOWN' }],
    ['a rejection', { state: 'not_executed' }, { outcome: 'not_executed', code: 'ACTION_REJECTED' }],
    ['an occluded target', { state: 'not_executed', error: 'TARGET_OCCLUDED' }, { code: 'TARGET_OCCLUDED' }],
    ['leave to go on', { state: 'unknown', continuation_ready: true }, { outcome: 'unknown', mayContinue: true }],
  ])('after %s', async (_what, does, expected) => {
    expect((await pressed([{ tool: 'computer_action', does }])).outcome).toMatchObject(expected);
  });

  it('says that the owner knows, when the record says so', async () => {
    const record = { operation_id: id(1), state: 'unknown', owner_acknowledged: true };
    const { outcome } = await pressed([
      { tool: 'computer_action', does: 'lost' },
      { tool: 'computer_operation_status', does: record },
    ]);
    expect(outcome).toEqual({ outcome: 'unknown', code: 'OWNER_ACKNOWLEDGED_UNKNOWN', acknowledged: true });
  });

  it('does not believe the record of another operation', async () => {
    const record = { operation_id: id(2), state: 'completed' };
    const does = { tool: 'computer_operation_status', does: record };
    const { outcome } = await pressed([{ tool: 'computer_action', does: 'lost' }, does, does, does]);
    expect(outcome).toMatchObject({ outcome: 'unknown' });
  });
});

describe('a controller on the scripted computer', () => {
  const run = async (tier: 'inline' | 'worker', faults: ScriptedFault[] = []) => {
    const { device } = notes(faults);
    const ports = { callTool: device.callTool, evaluate: stubEvaluator({ press: 'Save' }) };
    const result = await runPlugin({ plugin: desk, tier, input: { scope: device.scope, text: 'Ada' }, ports });
    return { result, done: device.done, calls: device.calls.map(({ name }) => name), held: device.leaseHeld() };
  };

  it.each<[string, ScriptedFault[]]>([
    ['no fault', []],
    ['a stale window', [{ tool: 'computer_action', does: 'stale' }]],
    ['a lost reply', [{ tool: 'computer_action', after: 1, does: 'lost' }]],
    ['an unknown outcome', [{ tool: 'computer_action', after: 1, does: 'unknown' }]],
    ['a device that cannot look', [{ tool: 'computer_observe', does: { error: 'OBSERVATION_FAILED' } }]],
  ])('does the same inline and in a worker with %s', async (_what, faults) => {
    const [inline, worker] = [await run('inline', faults), await run('worker', faults)];
    expect(worker).toEqual(inline);
    expect(inline.held).toBe(false);
  });

  it('reaches its end without a fault', async () => {
    expect(await run('worker')).toMatchObject({
      result: { outcomes: [{ outcome: 'confirmed' }, { outcome: 'confirmed' }], shown: ['It is saved.'] },
      done: ['type name', 'press save'],
    });
  });
});
