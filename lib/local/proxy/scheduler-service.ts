import { randomUUID } from 'node:crypto'
import type { Access } from '../access/policy.js'
import { isObject, type JsonObject, type Place } from '../assembly/template.js'
import type { Schedules } from '../events/run-schedules.js'
import { readScheduleDefinition, type ScheduleDefinition } from '../events/schedule-definition.js'
import { type Answer, type Refusal, refuseAccess } from './answer.js'
import { type Call, firstDenial } from './caller.js'
import type { Service } from './service.js'

const answer = (value: unknown): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'x-amzn-requestid': randomUUID() },
  body: JSON.stringify(value),
})

const refuse = ({ code, message, status = 400 }: Refusal): Answer => ({
  status,
  headers: { 'content-type': 'application/json', 'x-amzn-errortype': code, 'x-amzn-requestid': randomUUID() },
  body: JSON.stringify({ Message: message }),
})

const actions: Readonly<Record<string, string>> = {
  POST: 'scheduler:CreateSchedule',
  GET: 'scheduler:GetSchedule',
  PUT: 'scheduler:UpdateSchedule',
  DELETE: 'scheduler:DeleteSchedule',
}

/** What a call needs: its own action, and to pass the target's role when it names one. */
const accessesOf = (action: string, arn: string, { Target: target }: JsonObject): readonly Access[] => [
  { action, resource: arn },
  ...(isObject(target) && typeof target.RoleArn === 'string'
    ? [
        {
          action: 'iam:PassRole',
          resource: target.RoleArn,
          context: { 'iam:PassedToService': 'scheduler.amazonaws.com' },
        },
      ]
    : []),
]

const inSeconds = (at: number | undefined): number | undefined => (at === undefined ? undefined : at / 1000)

/** A schedule as the API tells it; dates are epoch seconds there. */
const describe = ({ given, name, group, arn, enabled, startAt, endAt }: ScheduleDefinition): JsonObject => ({
  ...given,
  ...{ Name: name, GroupName: group, Arn: arn, State: enabled ? 'ENABLED' : 'DISABLED' },
  ...{ StartDate: inSeconds(startAt), EndDate: inSeconds(endAt) },
})

/** The API of EventBridge Scheduler, for single schedules. @see https://docs.aws.amazon.com/scheduler/latest/APIReference/API_Operations.html */
export const makeSchedulerService = (schedules: Schedules, { partition, region, accountId }: Place): Service => {
  const run = ({ method }: Call, name: string, group: string, arn: string, body: JsonObject): Answer => {
    const known = schedules.get(group, name)
    if (method === 'POST' && known !== undefined)
      return refuse({ code: 'ConflictException', message: `Schedule ${name} already exists.`, status: 409 })
    if (method !== 'POST' && known === undefined)
      return refuse({ code: 'ResourceNotFoundException', message: `Schedule ${name} does not exist.`, status: 404 })
    if (method === 'GET' && known !== undefined) return answer(describe(known))
    if (method === 'DELETE') {
      schedules.remove(group, name)
      return answer({})
    }
    const read = readScheduleDefinition(name, arn, { ...body, GroupName: group })
    if (typeof read === 'string') return refuse({ code: 'ValidationException', message: `${name}: ${read}` })
    schedules.put(read)
    return answer({ ScheduleArn: arn })
  }
  return {
    handle: async (call) => {
      const { pathname, searchParams } = new URL(call.url, 'http://local')
      const [, , encoded = '', ...rest] = pathname.split('/')
      const action = actions[call.method]
      if (action === undefined || encoded === '' || rest.length > 0) return undefined
      const name = decodeURIComponent(encoded)
      const body = (call.body.length === 0 ? {} : JSON.parse(call.body.toString('utf8'))) as JsonObject
      const group = String(body.GroupName ?? searchParams.get('groupName') ?? 'default')
      const arn = `arn:${partition}:scheduler:${region}:${accountId}:schedule/${group}/${name}`
      const denial = await firstDenial(call.caller, accessesOf(action, arn, body))
      return denial === undefined ? run(call, name, group, arn, body) : refuse(refuseAccess('scheduler', denial))
    },
  }
}
