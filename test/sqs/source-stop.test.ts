import { ChangeMessageVisibilityBatchCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { describe, expect, it, vi } from 'vitest'
import { gate, numbered, setUpReceiving } from './receiving.js'

const { messaging, receive, sendAll, countMessages } = setUpReceiving()

describe('stopping', () => {
  it('waits for the batch in work, which is acknowledged, and no other is received', async () => {
    const { queueUrl } = await messaging().addQueue({ receiver: 'stopping' })
    await sendAll(queueUrl, numbered(20))
    const started = gate()
    const mayEnd = gate()
    let runs = 0
    const stop = receive({ queueUrl }, async () => {
      runs++
      started.open()
      await mayEnd.opened
      return []
    })
    await started.opened
    let isStopped = false
    const stopped = stop().then(() => {
      isStopped = true
    })
    // The queue answers in between, so a stop that does not wait would have ended.
    expect(await countMessages(queueUrl)).toEqual({ visible: 10, hidden: 10 })
    expect(isStopped).toBe(false)
    mayEnd.open()
    await stopped
    expect(runs).toBe(1)
    expect(await countMessages(queueUrl)).toEqual({ visible: 10, hidden: 0 })
  })

  it('gives back at once what a poll under way still receives', async () => {
    const { queueUrl } = await messaging().addQueue({ receiver: 'giving-back' })
    const sending = vi.spyOn(messaging().sqs, 'send')
    const sent = () => sending.mock.calls.map(([command]) => command)
    const onBatch = vi.fn(async () => [])
    const stop = receive({ queueUrl, waitTimeSeconds: 5 }, onBatch)
    await vi.waitFor(() => expect(sent()).toContainEqual(expect.any(ReceiveMessageCommand)))
    const stopped = stop()
    await sendAll(queueUrl, numbered(3))
    await stopped
    expect(sent()).toContainEqual(expect.any(ChangeMessageVisibilityBatchCommand))
    sending.mockRestore()
    expect(onBatch).not.toHaveBeenCalled()
    expect(await countMessages(queueUrl)).toEqual({ visible: 3, hidden: 0 })
  })

  it('loses nothing and repeats nothing while three sources stop one after the other', async () => {
    const { queueUrl } = await messaging().addQueue({ receiver: 'shared' })
    const sent = numbered(300)
    await sendAll(queueUrl, sent)
    const handled: string[] = []
    const many = gate()
    const sources = Array.from({ length: 3 }, () =>
      receive({ queueUrl, concurrency: 2 }, async (records) => {
        handled.push(...records.map(({ body }) => body))
        if (handled.length >= 60) many.open()
        return []
      }),
    )
    await many.opened
    for (const stop of sources) await stop()
    const { visible, hidden } = await countMessages(queueUrl)
    expect(hidden).toBe(0)
    const left = await messaging().drain(queueUrl, visible)
    expect([...handled, ...left.map(({ Body }) => Body)].sort()).toEqual([...sent].sort())
  })

  it('may be asked for twice, and before the first poll', async () => {
    const { queueUrl } = await messaging().addQueue({ receiver: 'at-once' })
    const sending = vi.spyOn(messaging().sqs, 'send')
    const stop = receive({ queueUrl }, async () => [])
    await Promise.all([stop(), stop()])
    await stop()
    expect(sending).not.toHaveBeenCalled()
    sending.mockRestore()
  })
})
