/** What a plugin author imports. */
export * from './contract/browser-run.ts';
export * from './contract/capabilities.ts';
export { type Code, codes, describeCode, isCode } from './contract/codes.ts';
export { HostError, isHostError } from './contract/errors.ts';
export type * from './contract/jev.ts';
export * from './contract/manifest.ts';
export * from './contract/program.ts';
export * from './contract/program-runner.ts';
export * from './contract/thinking.ts';
export * from './devices/remote-browser.ts';
export * from './devices/remote-browser-contract.ts';
export * from './devices/remote-computer.ts';
export * from './devices/remote-computer-contract.ts';
export * from './plugin/define.ts';
export * from './programs/engine.ts';
export * from './programs/json-limits.ts';
export * from './programs/program-error.ts';
export * from './programs/provider-names.ts';
