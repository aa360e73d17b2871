import type { BusEvent, Logger, Observer } from '../core/observation.js'

const LEVELS: Partial<Record<BusEvent['type'], 'info' | 'warn' | 'error'>> = {
  dead: 'error',
  'pass-failed': 'error',
  'topic-down': 'error',
  'topic-up': 'info',
  'settle-lost': 'warn',
  'release-lost': 'warn',
  'worker-started': 'info',
  'worker-relieved': 'info',
  'worker-left': 'info',
}

/** An observer that logs what an operator should see; everything else is counted and not written. */
export const logEvents = (logger: Logger): Observer => {
  return ({ type, ...about }) => {
    const level = LEVELS[type]
    if (level !== undefined) logger[level](type, about)
  }
}
