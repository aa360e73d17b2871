#!/usr/bin/env node
import { runCommandLine } from '../lib/operations/run-command-line.js'

/** The operator's command line. */
process.exitCode = await runCommandLine(process.argv.slice(2))
