import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { collectLog } from '../../../lib/local/functions/collect-log.js'

const PIECE = 'x'.repeat(64 * 1024)

it('a line of 32 MB that comes in pieces is put together once', async () => {
  const stream = new PassThrough()
  const lines: string[] = []
  const log = collectLog([stream], (line) => lines.push(line))
  const pieces = 512
  for (let piece = 0; piece < pieces; piece++) {
    if (!stream.write(PIECE)) await new Promise((resolve) => stream.once('drain', resolve))
  }
  stream.write('\nnext\nlast')
  stream.end()
  await new Promise((resolve) => stream.once('end', resolve))
  expect(lines.map((line) => line.length)).toEqual([pieces * PIECE.length, 4, 4])
  expect(log.take()).toEqual(lines)
}, 10_000)
