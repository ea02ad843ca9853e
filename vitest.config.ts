import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '{core,sdk,host,plugins,scripts,test,docs}/**/*.test.ts',
      // These ask a paid service, and only when they are told to.
      ...(process.env.JEV_HOST_LIVE === '1' ? ['test/live/**/*.live.ts'] : []),
    ],
    // Examples are packages of their own: they are built and tested as a third party would (test/packages).
    exclude: ['**/node_modules/**', 'docs/examples/{form-filler,word-count}/**'],
    globalSetup: ['test/global-setup.ts'],
    // A shared machine may stall for seconds. A test that needed its second try is marked so in the report.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores, and many tests start browsers or processes of their own.
    maxWorkers: 2,
    pool: 'forks',
  },
});
