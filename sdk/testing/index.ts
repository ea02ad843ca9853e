/** What a plugin author's tests import. */
export * from './conformance.ts';
export * from './evaluators.ts';
export * from './recorded.ts';
export * from './run-plugin.ts';
export * from './scripted-browser.ts';
export * from './scripted-computer.ts';
export type { ScriptedFault } from './scripted-faults.ts';
