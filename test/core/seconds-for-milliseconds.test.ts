import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPostdateError } from '../../lib/core/errors.js'
import { readInstant } from '../../lib/core/schedule/instant.js'
import { RemindPayment, refusalOf, setBus } from './bus-stage.js'

const remind = RemindPayment({ orderId: '42' })
const NOW = Date.parse('2026-01-01T00:00Z')
/** The seconds of the last instant of the year 5137. */
const MOST_SECONDS = Date.parse('5138-01-01T00:00Z') / 1_000 - 1

const codeOf = (value: unknown, now: number) => {
  try {
    return readInstant(value, now)
  } catch (error) {
    return isPostdateError(error) ? error.code : String(error)
  }
}

test('the seconds of any instant from 1970 to 5137 are refused where milliseconds belong', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MOST_SECONDS }), (seconds) => {
      expect(codeOf(new Date(seconds), NOW)).toBe('schedule.invalid-instant')
      expect(codeOf({ epochMilliseconds: seconds }, NOW)).toBe('schedule.invalid-instant')
      expect(codeOf(new Date(seconds * 1_000 + 100_000_000_000), NOW)).toBe(seconds * 1_000 + 100_000_000_000)
    }),
  )
})

test('a clock that is itself before 1973, as in a simulation, takes such instants', () => {
  expect(codeOf(new Date(5_000), 0)).toBe(5_000)
  expect(codeOf({ epochMilliseconds: 5_000 }, 99_999_999_999)).toBe(5_000)
  expect(codeOf({ epochMilliseconds: 5_000 }, 100_000_000_000)).toBe('schedule.invalid-instant')
})

test.each([new Date(1_800_000_000), { epochMilliseconds: 1_800_000_000 }])(
  'the refusal of %j asks whether seconds were passed, and nothing is sent',
  async (deliverAt) => {
    const { bus, sent } = setBus({ pastDue: 'send' })
    expect(await refusalOf(bus.send(remind, { deliverAt }))).toMatchObject({
      code: 'schedule.invalid-instant',
      message: expect.stringContaining('are these seconds?'),
    })
    expect(sent).toEqual([])
  },
)
