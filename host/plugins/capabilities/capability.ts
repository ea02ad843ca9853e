/**
 * The frame around every capability: what it is, what it may be asked, and what it is given to do it with.
 *
 * Checking of names, arguments, results, grants, counts and sizes is done once, by the broker; a capability's file holds
 * only what the capability does.
 */
import type * as v from 'valibot';
import type { Store } from '../../../core/store/store.ts';
import type { capabilityCalls } from '../../../sdk/contract/capabilities.ts';
import type { CapabilityId, CapabilityRequest } from '../../../sdk/contract/manifest.ts';
import type { HttpFetch } from '../http-client.ts';
import type { RunAuthority, RunPorts } from '../ports.ts';

/** One run, as a capability sees it. */
export interface CapabilityRun {
  readonly runId: string;
  readonly pluginId: string;
  readonly authority: RunAuthority;
  readonly ports: RunPorts;
  /** Aborted when the run is cancelled or passes its deadline. */
  readonly cancelled: AbortSignal;
  /** Aborted when the run is over, its time to clean up included. */
  readonly ended: AbortSignal;
  /** What plugin.json promises for this capability, and what the operator left of it. */
  readonly request: CapabilityRequest;
  readonly narrowing: Narrowing;
}

/** The narrower of manifest and grant. Absent means as wide as the task's own authority. */
export interface Narrowing {
  tools?: readonly string[];
  hosts?: readonly string[];
  methods?: readonly string[];
  budget?: number;
  credentialFile?: string;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What the host gives its capabilities. */
export interface CapabilityDeps {
  /** Absent in tests that store nothing: `storage` is then denied. */
  store?: Store;
  log(entry: { pluginId: string; runId: string; level: LogLevel; text: string }): void;
  now(): number;
  /** Absent: `http.fetch` is denied. */
  fetch?: HttpFetch;
}

type Calls<Id extends CapabilityId> = (typeof capabilityCalls)[Id];
type LastSegment<Name> = Name extends `${string}.${infer Rest}` ? Rest : never;
type In<Spec> = Spec extends { args: infer A extends v.GenericSchema } ? v.InferOutput<A> : never;
type Out<Spec> = Spec extends { result: infer R extends v.GenericSchema } ? Plain<v.InferInput<R>> : never;
/** Bytes may lie in any buffer. */
type Plain<T> = T extends Uint8Array ? Uint8Array : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

/** One handler per call, named by the last part of the call's name. */
export type Handlers<Id extends CapabilityId> = {
  [Name in keyof Calls<Id> as LastSegment<Name>]: (
    args: In<Calls<Id>[Name]>,
  ) => Out<Calls<Id>[Name]> | Promise<Out<Calls<Id>[Name]>>;
};

export interface Capability<Id extends CapabilityId = CapabilityId> {
  readonly id: Id;
  /** @returns undefined when the task's authority does not cover it: the capability is then denied. */
  create(run: CapabilityRun, deps: CapabilityDeps): Handlers<Id> | undefined;
}
