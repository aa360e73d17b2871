import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Summary } from '../../../examples/first-delivery/summary.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

it('npm start plays the example from its template: every message arrives, once and not before it was asked for', async () => {
  // Rejects when it exits with anything but 0.
  const { stdout } = await run('npm', ['run', '--silent', 'start', '--', '--json'], { cwd: root, maxBuffer: 2 ** 24 })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const { summary } = lines.at(-1) as { readonly summary: Summary }
  expect(summary.expected).toBeGreaterThan(60)
  expect(summary).toMatchObject({ received: summary.expected, early: 0, lost: 0, duplicates: 0 })
  expect(summary).toMatchObject({ recalledInTime: 1, recalledTooLate: 1 })
  expect([summary.latenessP50Ms, summary.latenessP99Ms].every(Number.isFinite)).toBe(true)
  for (const { form, sent, received } of summary.forms) expect({ form, received }).toEqual({ form, received: sent })
}, 300_000)
