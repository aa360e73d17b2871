import { shardOf } from '../lib/core/ids.js'
import { type OutgoingMessage, randomIds } from '../lib/index.js'

const SHARDS = 8

/** A row as a bus makes it, with a body of so many bytes. */
export const makeRow = (number: number, dueAt: number, bodyBytes: number, sentAt: number): OutgoingMessage => {
  const messageId = randomIds.messageId()
  const message = { $name: 'bench/remind', $version: 1, number, text: '' }
  const text = 'x'.repeat(Math.max(0, bodyBytes - JSON.stringify(message).length))
  return {
    rowId: messageId,
    shard: shardOf(messageId, SHARDS),
    dueAt,
    envelope: {
      messageId,
      kind: 'command',
      name: 'bench/remind',
      body: JSON.stringify({ ...message, text }),
      correlationId: messageId,
      attributes: {},
      stickyAttributes: {},
      headers: {},
      sentAt,
    },
  }
}
