import { createHash } from 'node:crypto'

/**
 * The emulator of SQS refuses characters above U+FFFF (an emoji, say), which AWS takes: it looks for valid characters
 * in halves of them. So each travels through it as U+E000 and its number, and a U+E000 of the body as U+E000 and 0.
 */
const MARK = '\uE000'

/** A body as the emulator takes it. Most are the same. */
export const toEmulatorBody = (body: string): string =>
  body.replace(/\uE000|[\u{10000}-\u{10FFFF}]/gu, (character) =>
    character === MARK ? `${MARK}000000` : MARK + (character.codePointAt(0) ?? 0).toString(16).padStart(6, '0'),
  )

/** The body that `toEmulatorBody` was given. */
export const fromEmulatorBody = (body: string): string =>
  body.includes(MARK)
    ? body.replace(/\uE000([0-9a-f]{6})/g, (_, hex: string) =>
        hex === '000000' ? MARK : String.fromCodePoint(Number.parseInt(hex, 16)),
      )
    : body

/** What SQS tells of a body, for its sender and its receiver to compare. */
export const md5Of = (body: string): string => createHash('md5').update(body).digest('hex')
