/**
 * Faults of a provider, by name, for tests of clients. Each breaks one thing and leaves the rest right, so that a client
 * that passes shows that it checks that very thing.
 */
import { answerFaults } from './faults/answer-faults.ts';
import { refusalFaults } from './faults/refusal-faults.ts';
import { responseFaults } from './faults/response-faults.ts';

export const faults = { ...responseFaults, ...refusalFaults, ...answerFaults } as const;

export type FaultName = keyof typeof faults;

export function isFaultName(value: unknown): value is FaultName {
  return typeof value === 'string' && Object.hasOwn(faults, value);
}
