/** `clock` and `random` make no calls: the worker endows them when they are granted. */
import type { Capability } from './capability.ts';

export const clock: Capability<'clock'> = { id: 'clock', create: () => ({}) };
export const random: Capability<'random'> = { id: 'random', create: () => ({}) };
