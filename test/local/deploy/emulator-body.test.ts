import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromEmulatorBody, toEmulatorBody } from '../../../lib/local/deploy/emulator-body.js'

it('every body comes back as it was', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (body) => fromEmulatorBody(toEmulatorBody(body)) === body))
})

it('what the emulator takes is left as it is, and nothing else remains', () => {
  expect(toEmulatorBody('{"plain":"ü"}')).toBe('{"plain":"ü"}')
  expect(toEmulatorBody('a😀\uE000')).not.toMatch(/[\uD800-\uDFFF]/)
})
