/** The fixture for projects that use `require`. */
exports.runGatewayBrowserFixture = async (options) =>
  (await import('./jev-browser-smoke.mjs')).runGatewayBrowserFixture(options);
