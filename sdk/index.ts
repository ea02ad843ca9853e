/** What a plugin author imports. */
export * from './contract/browser-run.ts';
export * from './contract/capabilities.ts';
export { type Code, codes, describeCode } from './contract/codes.ts';
export { HostError } from './contract/errors.ts';
export type * from './contract/jev.ts';
export * from './contract/manifest.ts';
export * from './contract/thinking.ts';
export * from './devices/remote-browser.ts';
export * from './devices/remote-browser-contract.ts';
export * from './plugin/define.ts';
