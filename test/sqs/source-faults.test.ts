import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { describe, expect, it, vi } from 'vitest'
import { type Clock, systemClock } from '../../lib/core/clock.js'
import { silentLogger } from '../../lib/core/observation.js'
import { startScriptedServer } from '../support/scripted-server.js'
import { gate, numbered, setUpReceiving } from './receiving.js'

const { messaging, receive, sendAll, countMessages } = setUpReceiving()

describe('a queue that fails', () => {
  /** Pauses take no time, and are noted. */
  const hurriedClock = (pauses: number[]): Clock => ({
    now: systemClock.now,
    wakeAt(at, callback) {
      pauses.push(Math.round((at - systemClock.now()) / 1000))
      setImmediate(callback)
      return () => {}
    },
  })

  it('is polled again after 1, 2, 4 … 15 seconds, for ever, and from 1 again after a success', async () => {
    const server = await startScriptedServer()
    const client = new SQSClient({ region: 'us-east-1', endpoint: server.endpoint, maxAttempts: 1 })
    const queueUrl = 'https://sqs.us-east-1.amazonaws.com/123456789012/billing'
    const pauses: number[] = []
    const error = vi.fn()
    const done = gate()
    server.answerWith((response) => {
      const { length } = server.requests
      if (length > 9) done.open()
      const json = { 'content-type': 'application/x-amz-json-1.0' }
      if (length === 7) response.writeHead(200, json).end('{}')
      else if (length % 2 === 0) response.socket?.destroy()
      else response.writeHead(403, json).end('{"__type":"AccessDenied"}')
    })
    const stop = receive(
      { queueUrl, client, clock: hurriedClock(pauses), logger: { ...silentLogger, error } },
      async () => [],
    )
    await done.opened
    await stop()
    await server.stop()
    expect(pauses.slice(0, 8)).toEqual([1, 2, 4, 8, 15, 15, 1, 2])
    expect(error).toHaveBeenCalledWith(expect.any(String), expect.objectContaining({ pauseMs: 1000, queueUrl }))
  })

  it('is received from as soon as it is there', async () => {
    const { queueUrl: sibling } = await messaging().addQueue({ receiver: 'sibling' })
    const queueUrl = sibling.replace('sibling', 'created-late')
    const pauses: number[] = []
    const failed = gate()
    const handled = gate()
    receive(
      { queueUrl, clock: hurriedClock(pauses), logger: { ...silentLogger, error: () => failed.open() } },
      async (records) => {
        expect(records.map(({ body }) => body)).toEqual(['{"n":0}'])
        handled.open()
        return []
      },
    )
    await failed.opened
    await messaging().sqs.send(new CreateQueueCommand({ QueueName: 'created-late' }))
    await sendAll(queueUrl, numbered(1))
    await handled.opened
    expect(pauses[0]).toBe(1)
  })

  it('does not hold up a stop that comes in a pause', async () => {
    const queueUrl = 'http://sqs.us-east-1.localhost/000000000000/nowhere'
    const pausing = gate()
    const cancel = vi.fn()
    const endlessClock: Clock = {
      now: systemClock.now,
      wakeAt() {
        pausing.open()
        return cancel
      },
    }
    const stop = receive({ queueUrl, clock: endlessClock }, async () => [])
    await pausing.opened
    await stop()
    expect(cancel).toHaveBeenCalledOnce()
  })

  it('says so when it does not take an acknowledgement, and its records come again', async () => {
    const { queueUrl } = await messaging().addQueue({ receiver: 'unacknowledged', visibilitySeconds: 1 })
    await sendAll(queueUrl, numbered(1))
    const error = vi.fn()
    const client = new SQSClient({
      endpoint: messaging().endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      useQueueUrlAsEndpoint: false,
    })
    let deletes = 0
    client.middlewareStack.add(
      (next, context) => (args) => {
        if (context.commandName === 'DeleteMessageBatchCommand' && deletes++ === 0) throw new Error('lost on the way')
        return next(args)
      },
      { step: 'initialize' },
    )
    let runs = 0
    const second = gate()
    const stop = receive({ queueUrl, client, logger: { ...silentLogger, error } }, async () => {
      runs++
      if (runs === 2) second.open()
      return []
    })
    await second.opened
    await stop()
    expect(error).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining('may come again'),
      expect.objectContaining({ reason: expect.stringContaining('lost on the way') }),
    )
    expect(await countMessages(queueUrl)).toEqual({ visible: 0, hidden: 0 })
  })
})
