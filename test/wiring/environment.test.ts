import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashText } from '../../lib/core/ids.js'
import { compareNames, formatNames } from '../../lib/wiring/environment.js'

const nodeHash = (text: string) => createHash('sha256').update(text).digest('hex')

describe('the names that a queue is subscribed to, in an environment variable', () => {
  it('read like a list while they are short', () => {
    expect(formatNames(['shop/remind-payment', 'shop/cancel-order'], nodeHash)).toBe(
      'shop/cancel-order,shop/remind-payment',
    )
  })

  it('fit beside the other variables at their longest', () => {
    const most = Array.from({ length: 149 }, (_, index) => `${index}/`.padEnd(256, 'x'))
    const written = formatNames(most, nodeHash)
    expect(written.length).toBeLessThanOrEqual(2_048)
    expect(compareNames(written, most, hashText)).toEqual({ onlyListed: [], onlyKnown: [] })
    const { onlyListed, onlyKnown } = compareNames(written, [...most.slice(1), 'shop/refund'], hashText)
    expect(onlyListed).toEqual([expect.stringMatching(/^sha256:[0-9a-f]{12}$/)])
    expect(onlyKnown).toEqual(['shop/refund'])
  })

  it('differ exactly by the names that one side lacks', () => {
    const name = fc.stringMatching(/^[\w./:-]{1,40}$/)
    fc.assert(
      fc.property(fc.uniqueArray(name), fc.uniqueArray(name), (listed, known) => {
        const { onlyListed, onlyKnown } = compareNames(formatNames(listed, nodeHash), known, hashText)
        expect([...onlyKnown].sort()).toEqual(known.filter((one) => !listed.includes(one)).sort())
        expect(onlyListed).toHaveLength(listed.filter((one) => !known.includes(one)).length)
      }),
    )
  })
})
