import { describe, expect, test } from 'vitest'
import { defineCommand } from '../../lib/core/message.js'
import { defineReceiver, handlerFor } from '../../lib/core/receiver.js'
import { RemindPayment, refusalOf, setBus } from './bus-stage.js'

const thrownBy = (work: () => unknown): unknown => {
  try {
    return { returned: work() }
  } catch (error) {
    return error
  }
}

const halfDefined = defineCommand('orders/remind', 1)

class Remind {
  readonly $name = 'orders/remind'
  readonly $version = 1
}

/** Calls as plain JavaScript makes them, without types to stop it. */
const plain = { handlerFor, defineReceiver } as unknown as Record<string, (...given: unknown[]) => unknown>

describe('what plain JavaScript passes by mistake has a typed error:', () => {
  test.each([
    ['a name', 'orders/remind'],
    ['null', null],
    ['undefined', undefined],
    ['a number', 5],
    ['an object without a name', {}],
    ['a definition without its second call', halfDefined],
  ])('%s in the place of a definition', (_what, definition) => {
    const error = thrownBy(() => plain.handlerFor?.(definition, () => {}))
    expect(error).toMatchObject({ code: 'message.invalid', message: expect.stringContaining('second call') })
  })

  test.each([[null], [undefined], ['handle'], [{}]])('%j in the place of a handler', (handle) => {
    const error = thrownBy(() => plain.handlerFor?.(RemindPayment, handle))
    expect(error).toMatchObject({ code: 'options.invalid', message: expect.stringContaining('orders/remind') })
  })

  test.each<[unknown, string]>([
    [undefined, 'handlers'],
    [handlerFor(RemindPayment, () => {}), 'handlers'],
    [[null], 'handlers[0]'],
    [[handlerFor(RemindPayment, () => {}), () => {}], 'handlers[1]'],
  ])('what are no handlers of a receiver (%#)', (handlers, option) => {
    const error = thrownBy(() => plain.defineReceiver?.('billing', handlers))
    expect(error).toMatchObject({ code: 'options.invalid', details: { option } })
  })

  test.each<[unknown, string]>([
    [defineReceiver('billing', [handlerFor(RemindPayment, () => {})]), 'receivers'],
    [[defineReceiver('billing', [handlerFor(RemindPayment, () => {})])], 'receivers[0]'],
    [[{ receiver: defineReceiver('billing', []) }], 'receivers[0]'],
    [[null], 'receivers[0]'],
  ])('a receiver without a source (%#)', (receivers, option) => {
    const error = thrownBy(() => setBus({ receivers: receivers as never }))
    expect(error).toMatchObject({
      code: 'options.invalid',
      details: { option },
      message: expect.stringContaining('{ receiver, source }'),
    })
  })

  test.each([
    ['a definition', RemindPayment],
    ['what a definition without its second call makes', halfDefined()],
    ['a definition without its second call', halfDefined],
  ])('%s in the place of a message', async (_what, message) => {
    const { bus, sent } = setBus()
    expect(await refusalOf(bus.send(message as never))).toMatchObject({
      code: 'message.invalid',
      message: expect.stringMatching(/PlaceOrder\(\{ … \}\).* and it is a function/),
    })
    expect(sent).toEqual([])
  })
})

test('definitions, classes and plain objects with a name have handlers', () => {
  for (const definition of [RemindPayment, Remind, { $name: 'orders/remind' }])
    expect(plain.handlerFor?.(definition, () => {})).toMatchObject({ messageName: 'orders/remind' })
})
