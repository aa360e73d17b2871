import { randomUUID } from 'node:crypto'
import type { AccessCheck } from '../access/check-access.js'
import type { Queue } from '../deploy/make-queues.js'
import type { QueueClient } from '../deploy/queue-client.js'
import type { AsynchronousInvoker } from './invoke-asynchronously.js'
import type { ScheduleDefinition } from './schedule-definition.js'

/** What schedules reach. */
export interface ScheduleTargets {
  /** By the function's ARN. */
  readonly functions: ReadonlyMap<string, AsynchronousInvoker>
  readonly queues: readonly Queue[]
  readonly client: QueueClient
  readonly access: AccessCheck
  readonly onLine: (line: string) => void
}

/** The event of a schedule without input. */
const defaultEvent = ({ arn }: ScheduleDefinition, id: string, at: number): string => {
  const [, , , region, account] = arn.split(':')
  return JSON.stringify({
    ...{ version: '0', id, 'detail-type': 'Scheduled Event', source: 'aws.scheduler', account },
    ...{ time: new Date(at).toISOString(), region, resources: [arn], detail: '{}' },
  })
}

/** The input with its placeholders filled in. @see https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html */
const eventOf = (schedule: ScheduleDefinition, at: number): string => {
  const id = randomUUID()
  if (schedule.input === undefined) return defaultEvent(schedule, id, at)
  return schedule.input
    .replaceAll('<aws.scheduler.scheduled-time>', new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'))
    .replaceAll('<aws.scheduler.schedule-arn>', schedule.arn)
    .replaceAll('<aws.scheduler.execution-id>', id)
    .replaceAll('<aws.scheduler.attempt-number>', '1')
}

/**
 * Invokes the target of a schedule, by the schedule's role. Functions are invoked asynchronously, so that a function that
 * fails is no matter of the schedule; a target that can't be invoked at all goes to the schedule's dead-letter queue.
 */
export const fireSchedule = async (
  schedule: ScheduleDefinition,
  at: number,
  targets: ScheduleTargets,
): Promise<void> => {
  const { functions, queues, client, access, onLine } = targets
  const { targetArn, roleArn, deadLetterArn, name } = schedule
  const event = eventOf(schedule, at)
  const deny = (action: string, resource: string) => access.asRole(roleArn, name, { action, resource })

  /** Why the target was not reached; `undefined` when it was. */
  const reach = async (): Promise<string | undefined> => {
    const invoker = functions.get(targetArn)
    if (invoker !== undefined) {
      const denial = await deny('lambda:InvokeFunction', targetArn)
      if (denial === undefined) invoker.accept(event, 'schedule')
      return denial?.message
    }
    const queue = queues.find(({ arn }) => arn === targetArn)
    if (queue === undefined) return `the target ${targetArn} does not exist`
    const denial = await deny('sqs:SendMessage', targetArn)
    if (denial === undefined) await client.send(queue.emulatorUrl, event)
    return denial?.message
  }

  const reason = await reach()
  if (reason === undefined) return
  onLine(`the schedule ${name} did not reach its target: ${reason}`)
  const deadLetters = queues.find(({ arn }) => arn === deadLetterArn)
  if (deadLetterArn === undefined || deadLetters === undefined) return
  const denial = await deny('sqs:SendMessage', deadLetterArn)
  if (denial !== undefined) return onLine(`its dead-letter queue did not take it: ${denial.message}`)
  const text = (value: string) => ({ DataType: 'String', StringValue: value })
  await client.send(deadLetters.emulatorUrl, event, {
    SCHEDULE_ARN: text(schedule.arn),
    TARGET_ARN: text(targetArn),
    ERROR_CODE: text('AccessDeniedException'),
    ERROR_MESSAGE: text(reason.slice(0, 1000)),
  })
}
