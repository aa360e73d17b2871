import { defineConfig } from 'vitest/config'

// Where CI wants the results as JSON besides what is printed.
const report = process.env.POSTDATE_TEST_REPORT

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/leftover-processes.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    allowOnly: false,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    env: {
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    },
  },
})
