import { expect, it } from 'vitest'
import { readScheduleExpression } from '../../../lib/local/events/schedule-expression.js'

it.each([
  ['rate(1 minute)', 60_000],
  ['rate(5 minutes)', 300_000],
  ['rate(1 hour)', 3_600_000],
  ['rate(2 days)', 172_800_000],
])('%s comes every %d ms', (expression, everyMs) => {
  expect(readScheduleExpression(expression)).toEqual({ kind: 'rate', everyMs })
})

it('at(...) is an instant in UTC', () => {
  expect(readScheduleExpression('at(2026-01-31T12:30:15)')).toEqual({
    kind: 'at',
    at: Date.UTC(2026, 0, 31, 12, 30, 15),
  })
})

it.each([
  '',
  'rate(0 minutes)',
  'rate(1 second)',
  'rate(minute)',
  'cron(0 12 * * ? *)',
  'at(tomorrow)',
  'at(2026-13-01T00:00:00)',
])('%j is not understood', (expression) => {
  expect(readScheduleExpression(expression)).toBeUndefined()
})
