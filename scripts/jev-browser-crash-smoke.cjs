/** The fixture for projects that use `require`. */
exports.runGatewayBrowserCrashFixture = async (options) =>
  (await import('./jev-browser-crash-smoke.mjs')).runGatewayBrowserCrashFixture(options);
