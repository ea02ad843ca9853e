import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{core,sdk,host,plugins,scripts,test,docs}/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores, and many tests start browsers or processes of their own.
    maxWorkers: 2,
    pool: 'forks',
  },
});
