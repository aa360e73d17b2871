// Prints `<passed> <failed>` of a run of vitest, from its JSON report and its exit code. A run that ended badly failed at
// least once, whatever its report says: a file that did not load, an error outside of a test, a process left running.
import { readFileSync } from 'node:fs'

const [, , path, status] = process.argv

const readCounts = () => {
  try {
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(path, 'utf8'))
    const filesWithoutTests = testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
    )
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
    for (const { status, fullName } of tests)
      if (status !== 'passed' && status !== 'failed') console.error(`not run (${status}): ${fullName}`)
    return { passed: numPassedTests, failed: numFailedTests + filesWithoutTests.length }
  } catch (error) {
    console.error(`no report of the tests: ${error.message}`)
    return { passed: 0, failed: 1 }
  }
}

const { passed, failed } = readCounts()
console.log(passed, status === '0' ? failed : Math.max(failed, 1))
