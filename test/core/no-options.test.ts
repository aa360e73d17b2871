import { expect, test } from 'vitest'
import type { SendEntry } from '../../lib/core/send-all.js'
import { RemindPayment, refusalOf, setBus } from './bus-stage.js'

const remind = RemindPayment({ orderId: '42' })

class Later {
  get deliverAfter() {
    return 5_000
  }
}

class Empty {}

const NO_OPTIONS: readonly (readonly [string, unknown])[] = [
  ['a Date', new Date('2027-01-01T00:00Z')],
  ['a Map', new Map([['deliverAfter', 5_000]])],
  ['a Set', new Set(['deliverAfter'])],
  ['an empty list', []],
  ['a list of options', [{ deliverAfter: 5_000 }]],
  ['a list with an option', Object.assign([], { deliverAfter: 5_000 })],
  ['a promise', Promise.resolve({ deliverAfter: 5_000 })],
  ['a class without any option', new Empty()],
  ['a number', 5_000],
  ['text', '5 minutes'],
  ['null', null],
]

test.each(NO_OPTIONS)('%s in the place of options is refused, and nothing is sent', async (_what, options) => {
  const { bus, sent, clock } = setBus()
  const given = options as object
  const { context, flush } = bus.openContext()
  for (const refused of [
    bus.send(remind, given),
    bus.publish(remind, given),
    context.send(remind, given),
    context.publish(remind, given),
  ])
    expect(await refusalOf(refused)).toMatchObject({ code: 'options.invalid', details: { option: 'options' } })
  await flush()
  await clock.advanceBy(10_000)
  expect(sent).toEqual([])
})

test('an entry of many that is a list is refused, though it has a message', async () => {
  const { bus, sent } = setBus()
  const entry = Object.assign([], { message: remind }) as unknown as SendEntry
  expect(await bus.sendAll([entry])).toMatchObject([{ status: 'failed', error: { code: 'options.invalid' } }])
  expect(sent).toEqual([])
})

test('options of a class that has them as getters are options', async () => {
  const { bus, startAt } = setBus()
  expect(await bus.send(remind, new Later())).toMatchObject({ status: 'scheduled', dueAt: startAt + 5_000 })
})

test('the refusal is a sentence that says what options look like', async () => {
  const { bus } = setBus()
  const refusal = await refusalOf(bus.send(remind, 5_000 as never))
  expect(refusal).toMatchObject({
    message: expect.stringMatching(/^the options are 5000: they must be an object such as \{ deliverAfter: 5000 \}/),
  })
  expect(await refusalOf(bus.send(remind, { deliverAtt: 5 } as never))).toMatchObject({
    message: expect.stringMatching(
      /^unknown option deliverAtt \(did you mean deliverAt\?\); the known options are .*deliverAfter, deliverAt, .*\. Nothing/,
    ),
  })
})
