import type { Clock } from '../clock.js'

/**
 * Waits for a port's answer, but not for ever: rejects once the clock has reached `at` (epoch milliseconds) without one.
 * Ports have time-outs of their own, which come first; this keeps one that forgot its own from stopping a dispatcher for
 * good. An answer that comes later goes to `onLate`; an error that comes later says only what was assumed.
 */
export const awaitAnswer = <T>(
  clock: Clock,
  at: number,
  ask: () => Promise<T>,
  onLate: (answer: T) => void = () => {},
): Promise<T> =>
  new Promise((resolve, reject) => {
    let isLate = false
    const askedAt = clock.now()
    const cancel = clock.wakeAt(at, () => {
      isLate = true
      reject(new Error(`no answer within ${at - askedAt} ms`))
    })
    const answerOf = async () => ask()
    answerOf().then(
      (answer) => {
        cancel()
        if (isLate) onLate(answer)
        else resolve(answer)
      },
      (error) => {
        cancel()
        reject(error)
      },
    )
  })
