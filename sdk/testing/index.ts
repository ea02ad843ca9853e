/** What a plugin author's tests import. */
export * from './evaluators.ts';
export * from './scripted-browser.ts';
