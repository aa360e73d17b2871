#!/usr/bin/env node
import { runCommandLine } from '../lib/operations/run-command-line.js'

/** The operator's command line. Who reads a lateness is not to be told when the AWS SDK will leave Node 20. */
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
process.exitCode = await runCommandLine(process.argv.slice(2))
