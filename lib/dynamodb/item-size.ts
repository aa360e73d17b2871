import { utf8Bytes } from '../core/envelope.js'
import type { Item } from './table.js'

/** A number takes a byte for two significant digits, and one more; zeros at its ends don't count. */
const numberBytes = (text: string): number => {
  const digits = text.replace(/[^0-9]/g, '').replace(/^0+|0+$/g, '')
  return Math.ceil(digits.length / 2) + 1
}

/**
 * The bytes of an item as DynamoDB counts them for capacity: names and values of its attributes, for text and numbers.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export const itemBytes = (item: Item): number => {
  let bytes = 0
  for (const [name, value] of Object.entries(item)) {
    bytes += utf8Bytes(name)
    if (value.S !== undefined) bytes += utf8Bytes(value.S)
    else if (value.N !== undefined) bytes += numberBytes(value.N)
  }
  return bytes
}
