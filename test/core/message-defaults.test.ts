import { describe, expect, test } from 'vitest'
import { defineCommand, defineEvent, type Message } from '../../lib/core/message.js'
import { defineReceiver, handlerFor } from '../../lib/core/receiver.js'
import { toWire } from '../../lib/core/wire.js'
import { refusalOf, setBus } from './bus-stage.js'
import { envelopeOf } from './dispatch/stage.js'

const EndTrial = defineCommand('trials/end', 1, { deliverAfter: { days: 30 } })<{ user: string }>()
const EndTrialAtOnce = defineCommand('trials/end-at-once')<{ user: string }>()
const DAYS_30 = 30 * 86_400_000

describe('a definition with a default delay', () => {
  test('delays every message whose sender does not say when: commands, events, one of many, and copies', async () => {
    const { bus, startAt, sent } = setBus()
    const TrialEnded = defineEvent('trials/ended', 1, { deliverAfter: 5_000 })<{ user: string }>()
    const changed = { ...EndTrial({ user: 'u1' }), user: 'u2' }
    const options = { attributes: { tenant: 'acme' } }
    expect((await bus.send(EndTrial({ user: 'u1' }))).dueAt).toBe(startAt + DAYS_30)
    expect((await bus.send(changed, options)).dueAt).toBe(startAt + DAYS_30)
    expect((await bus.publish(TrialEnded({ user: 'u1' }))).dueAt).toBe(startAt + 5_000)
    expect(await bus.sendAll([{ message: EndTrial({ user: 'u3' }) }])).toMatchObject([{ dueAt: startAt + DAYS_30 }])
    const { context, flush } = bus.openContext()
    expect((await context.send(EndTrial({ user: 'u4' }))).dueAt).toBe(startAt + DAYS_30)
    await flush()
    expect(sent).toEqual([])
  })

  test('gives way to whatever the sender says, now included', async () => {
    const { bus, startAt } = setBus()
    const message = EndTrial({ user: 'u1' })
    expect((await bus.send(message, { deliverAfter: 5 })).dueAt).toBe(startAt + 5)
    expect((await bus.send(message, { deliverAt: new Date(startAt + 7) })).dueAt).toBe(startAt + 7)
    expect((await bus.send(message, { delayLevel: 1 })).dueAt).toBe(startAt + 1_000)
    expect((await bus.send(message, { deliverAfter: 0 })).status).toBe('sent')
    expect(await refusalOf(bus.send(message, { deliverAfter: undefined }))).toMatchObject({
      code: 'schedule.missing-value',
    })
  })

  test('is a time that a spread begins at, and bound by the horizon', async () => {
    const { bus, startAt } = setBus({ horizon: { days: 31 } })
    const { dueAt = 0 } = await bus.send(EndTrial({ user: 'u1' }), { spread: { days: 1 } })
    expect(dueAt).toBeGreaterThanOrEqual(startAt + DAYS_30)
    expect(dueAt).toBeLessThanOrEqual(startAt + DAYS_30 + 86_400_000)
    const beyond = bus.send(EndTrial({ user: 'u1' }), { spread: { days: 2 } })
    expect(await refusalOf(beyond)).toMatchObject({ code: 'schedule.beyond-horizon' })
  })

  test('does not show in the message that travels, and tells its delay', async () => {
    const { bus, rowsLeft } = setBus()
    await bus.send(EndTrial({ user: 'u1' }))
    const [row] = await rowsLeft()
    expect(row?.envelope).toMatchObject({ body: '{"user":"u1","$name":"trials/end","$version":1}' })
    expect(EndTrial.$deliverAfterMs).toBe(DAYS_30)
    expect(EndTrialAtOnce.$deliverAfterMs).toBeUndefined()
  })

  test('does not hand its delay to a message of another definition that is made of one of its own', async () => {
    const { bus } = setBus()
    const { status } = await bus.send(EndTrialAtOnce(EndTrial({ user: 'u1' })))
    expect(status).toBe('sent')
  })

  test('delays no message that was received, so what a handler forwards goes on at once', async () => {
    const { bus, sent } = setBus()
    const received: Message[] = []
    const receiver = defineReceiver('relay', [
      handlerFor(EndTrial, async (message, ctx) => {
        received.push(message)
        await ctx.send(message)
      }),
    ])
    const body = JSON.stringify(EndTrial({ user: 'u1' }))
    const wire = toWire({ ...envelopeOf('incoming', body), name: 'trials/end' }, { attempt: 1, dueAt: 1 })
    await bus.handleRecords([{ recordId: 'r', ...wire }], receiver)
    expect(received).toHaveLength(1)
    expect(sent).toMatchObject([{ dueAt: undefined }])
  })

  test.each<[string, object, string]>([
    ['negative', { deliverAfter: -1 }, 'schedule.invalid-duration'],
    ['text', { deliverAfter: '30 days' }, 'schedule.invalid-duration'],
    ['undefined', { deliverAfter: undefined }, 'schedule.missing-value'],
    ['null', { deliverAfter: null }, 'schedule.missing-value'],
    ['misspelt', { deliverafter: 5 }, 'options.unknown'],
  ])('is refused when it is made and the delay is %s', (_what, defaults, code) => {
    expect(() => defineCommand('trials/end', 1, defaults)()).toThrow(expect.objectContaining({ code }))
  })
})
