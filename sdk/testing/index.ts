/** What a plugin author's tests import. */
export * from './evaluators.ts';
export * from './run-plugin.ts';
export * from './scripted-browser.ts';
