import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { forms } from '../../examples/first-delivery/forms.js'
import type { Summary } from '../../examples/first-delivery/summary.js'

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
  it('delivers every message, of every form, to two started buses once and not before it was asked for', async () => {
    const lines = await runExample()
    const { summary } = lines.at(-1) as { readonly summary: Summary }
    const { sent, expected } = summary
    expect(sent).toBeGreaterThan(70)
    expect(expected).toBeLessThan(sent) // one was taken back
    expect(summary).toMatchObject({ received: expected, early: 0, lost: 0, duplicates: 0 })
    expect(summary).toMatchObject({ recalledInTime: 1, recalledTooLate: 1 })
    const played = summary.forms.map(({ form }) => form)
    expect(played).toEqual(expect.arrayContaining(forms.map(({ form }) => form)))
    for (const one of summary.forms) {
      const [least] = one.receivedAfterAskedMs
      expect(one, one.form).toMatchObject({ received: one.sent })
      expect(Math.min(least, one.promisedAfterAskedMs), one.form).toBeGreaterThanOrEqual(0)
    }
    const processes = new Set(lines.flatMap((line) => (line.event === 'received' ? [line.process] : [])))
    expect(processes).toEqual(new Set(['receiver-1', 'receiver-2']))
  }, 90_000)
})
