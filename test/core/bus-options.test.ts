import { describe, expect, test } from 'vitest'
import { RemindPayment, refusalOf, setBus } from './bus-stage.js'

const remind = RemindPayment({ orderId: '42' })

describe('the schedule options of a bus', () => {
  test.each<[string, unknown, string]>([
    ['horizon', -1, 'horizon'],
    ['horizon', Number.NaN, 'horizon'],
    ['horizon', '10 years', 'horizon'],
    ['horizon', { years: 10 }, 'horizon.years'],
    ['horizon', null, 'horizon'],
    ['pastDue', 'clamp', 'pastDue'],
    ['resolutionMs', 0, 'resolutionMs'],
    ['resolutionMs', 50, 'resolutionMs'],
    ['resolutionMs', '100', 'resolutionMs'],
    ['resolutionMs', 2_000, 'resolutionMs'],
    ['delayLevels', [], 'delayLevels'],
    ['delayLevels', '1s 5s', 'delayLevels'],
    ['delayLevels', [1_000, '5s'], 'delayLevels[1]'],
    ['delayLevels', [{ weeks: 1 }], 'delayLevels[0].weeks'],
  ])('refuse %s of %j', (name, value, option) => {
    expect(() => setBus({ [name]: value })).toThrow(
      expect.objectContaining({ code: 'options.invalid', details: expect.objectContaining({ option }) }),
    )
  })

  test.each([
    ['horizonMs', 'horizon'],
    ['resolution', 'resolutionMs'],
    ['delayLevel', 'delayLevels'],
    ['pastdue', 'pastDue'],
  ])('refuse %s, which is none, and name %s', (name, nearest) => {
    expect(() => setBus({ [name]: 1 })).toThrow(
      expect.objectContaining({ code: 'options.unknown', details: expect.objectContaining({ name, nearest }) }),
    )
  })

  test('take every shape of a duration', async () => {
    const { bus, startAt } = setBus({ horizon: { minutes: 1 }, delayLevels: [500, { seconds: 30 }] })
    expect((await bus.send(remind, { delayLevel: 1 })).dueAt).toBe(startAt + 500)
    expect((await bus.send(remind, { delayLevel: 2 })).dueAt).toBe(startAt + 30_000)
    expect((await bus.send(remind, { deliverAfter: 60_000 })).dueAt).toBe(startAt + 60_000)
    expect(await refusalOf(bus.send(remind, { deliverAfter: 60_001 }))).toMatchObject({
      code: 'schedule.beyond-horizon',
      details: { dueAt: startAt + 60_001, limitAt: startAt + 60_000, horizonMs: 60_000 },
    })
  })

  test('do not change when the table that was given changes', async () => {
    const delayLevels = [1_000]
    const { bus, startAt } = setBus({ delayLevels })
    delayLevels[0] = 5_000
    expect((await bus.send(remind, { delayLevel: 1 })).dueAt).toBe(startAt + 1_000)
  })

  test('round due instants up to the resolution, and messages of one moment go out in one request', async () => {
    const { bus, clock, requests, sent, startAt } = setBus({ resolutionMs: 1_000 })
    await bus.start()
    for (const ms of [1, 250, 999, 1_000]) await bus.send(remind, { deliverAfter: ms })
    await clock.advanceBy(5_000)
    await bus.stop()
    expect(requests.map(({ at, ids }) => [at - startAt, ids.length])).toEqual([[1_000, 4]])
    expect(sent.every(({ dueAt }) => dueAt === startAt + 1_000)).toBe(true)
  })

  test('let a spread put messages of one instant to many, each never before it', async () => {
    const { bus, startAt } = setBus()
    const outcomes = await bus.sendAll(
      Array.from({ length: 200 }, () => ({ message: remind, deliverAfter: 60_000, spread: { minutes: 10 } })),
    )
    const points = outcomes.map((outcome) => (outcome.status === 'scheduled' ? (outcome.dueAt ?? 0) - startAt : -1))
    expect(Math.min(...points)).toBeGreaterThanOrEqual(60_000)
    expect(Math.max(...points)).toBeLessThanOrEqual(660_000)
    expect(new Set(points).size).toBeGreaterThan(190)
  })

  test('let a repeat under an own id with a spread be the same message', async () => {
    const { bus, rowsLeft, startAt } = setBus()
    const options = { messageId: 'own', deliverAt: new Date(startAt + 60_000), spread: { minutes: 10 } }
    const [first, second] = [await bus.send(remind, options), await bus.send(remind, options)]
    expect(first).toEqual(second)
    expect(await rowsLeft()).toHaveLength(1)
  })
})
