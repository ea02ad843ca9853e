/** What a plugin author's tests import. */
export * from './conformance.ts';
export * from './evaluators.ts';
export * from './recorded.ts';
export * from './run-plugin.ts';
export * from './scripted-browser.ts';
