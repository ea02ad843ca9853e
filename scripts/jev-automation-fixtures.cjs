#!/usr/bin/env node
/** `node scripts/jev-automation-fixtures.cjs`, after `npm run build`; also for projects that use `require`. */
const load = () => import('./jev-automation-fixtures.mjs');
exports.runAutomationFixtures = async (options) => (await load()).runAutomationFixtures(options);
if (require.main === module) {
  load()
    .then(({ main }) => main(process.argv.slice(2)))
    .then((code) => process.exit(code));
}
