import { fireSchedule, type ScheduleTargets } from './fire-schedule.js'
import type { ScheduleDefinition } from './schedule-definition.js'

/** The schedules of the cloud, running. */
export interface Schedules {
  get(group: string, name: string): ScheduleDefinition | undefined
  /** Adds a schedule, or replaces the one of its name, and runs it. */
  put(schedule: ScheduleDefinition): void
  /** Whether it was there. */
  remove(group: string, name: string): boolean
  stop(): void
}

/** Timers above this fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Runs schedules. @param speed how much faster than the wall rates run: at 60, a minute is a second */
export const runSchedules = (targets: ScheduleTargets, speed: number): Schedules => {
  const schedules = new Map<string, ScheduleDefinition>()
  const timers = new Map<string, NodeJS.Timeout>()
  const keyOf = (group: string, name: string) => `${group}/${name}`

  const arm = (key: string, at: number, callback: () => void): void => {
    const leftMs = at - Date.now()
    timers.set(
      key,
      leftMs > LONGEST_TIMER_MS
        ? setTimeout(() => arm(key, at, callback), LONGEST_TIMER_MS)
        : setTimeout(callback, Math.max(0, leftMs)),
    )
  }
  const cancel = (key: string) => {
    clearTimeout(timers.get(key))
    timers.delete(key)
  }
  const fire = (schedule: ScheduleDefinition, at: number) => {
    fireSchedule(schedule, at, targets).catch((error: Error) =>
      targets.onLine(`the schedule ${schedule.name} could not fire: ${error.message}`),
    )
  }
  const run = (key: string, schedule: ScheduleDefinition) => {
    const { timing, startAt, endAt = Number.POSITIVE_INFINITY } = schedule
    if (timing.kind === 'at')
      return arm(key, timing.at, () => {
        fire(schedule, timing.at)
        if (schedule.removedWhenDone) schedules.delete(key)
      })
    // Ticks keep to their grid, so that a slow one does not put off the next.
    const everyMs = timing.everyMs / speed
    const tick = (at: number) => {
      if (at > endAt) return
      fire(schedule, at)
      const next = Math.max(at + everyMs, Date.now() - everyMs)
      arm(key, next, () => tick(next))
    }
    // Without a start, a rate begins when the schedule is made.
    const first = Math.max(startAt ?? 0, Date.now())
    arm(key, first, () => tick(first))
  }

  return {
    get: (group, name) => schedules.get(keyOf(group, name)),
    put: (schedule) => {
      const key = keyOf(schedule.group, schedule.name)
      cancel(key)
      schedules.set(key, schedule)
      if (schedule.enabled) run(key, schedule)
    },
    remove: (group, name) => {
      cancel(keyOf(group, name))
      return schedules.delete(keyOf(group, name))
    },
    stop: () => {
      for (const key of [...timers.keys()]) cancel(key)
    },
  }
}
