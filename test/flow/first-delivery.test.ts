import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** The example's own lines; the last one is the summary. */
const runExample = async (): Promise<readonly Record<string, unknown>[]> => {
  const { stdout } = await run('npm', ['run', '--silent', 'example', '--', '--json'], { cwd: root })
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('npm run example', () => {
  it('delivers every message of a sender to two started buses once, none early, and ends with the summary', async () => {
    const lines = await runExample()
    const { summary } = lines.at(-1) as { summary: Record<string, number> }
    const { sent = 0, expected = 0 } = summary
    expect(sent).toBeGreaterThan(70)
    expect(expected).toBeLessThan(sent) // one was taken back
    expect(summary).toMatchObject({ received: expected, early: 0, lost: 0, duplicates: 0 })
    const processes = new Set(lines.flatMap((line) => (line.event === 'received' ? [line.process] : [])))
    expect(processes).toEqual(new Set(['receiver-1', 'receiver-2']))
  }, 90_000)
})
