import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterEach, expect, it } from 'vitest'
import { allow, anyResource, arnOf, lambda, queue, ref, role, schedule } from '../support/resources.js'
import { shareCloud, until } from '../support/start-cloud.js'

/** A minute takes 250 ms. */
const SPEED = 240

const under = shareCloud(
  {
    ...queue('Gone'),
    ...queue('Unreached'),
    ...queue('DeadLetters'),
    ...lambda('Ticked', 'probe'),
    ...lambda('Failing', 'probe', [allow(['sqs:SendMessage'], arnOf('Gone'))]),
    ...lambda('Dying', 'probe', [allow(['sqs:SendMessage'], arnOf('DeadLetters'))], {
      DeadLetterConfig: { TargetArn: arnOf('DeadLetters') },
    }),
    ...anyResource('DyingConfig', 'AWS::Lambda::EventInvokeConfig', {
      FunctionName: ref('Dying'),
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 0,
    }),
    ...anyResource('FailingConfig', 'AWS::Lambda::EventInvokeConfig', {
      FunctionName: ref('Failing'),
      Qualifier: '$LATEST',
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
      DestinationConfig: { OnFailure: { Destination: arnOf('Gone') } },
    }),
    ...role('TickerRole', 'scheduler.amazonaws.com', [
      allow(['lambda:InvokeFunction'], [arnOf('Ticked'), arnOf('Failing'), arnOf('Dying')]),
    ]),
    ...role('PowerlessRole', 'scheduler.amazonaws.com', [allow(['sqs:SendMessage'], arnOf('Unreached'))]),
    ...schedule(
      'Tick',
      'Ticked',
      'TickerRole',
      { Name: 'tick' },
      {
        Input: '{"at":"<aws.scheduler.scheduled-time>","schedule":"<aws.scheduler.schedule-arn>"}',
      },
    ),
    ...schedule(
      'Fail',
      'Failing',
      'TickerRole',
      { Name: 'fail', ScheduleExpression: 'rate(1 day)' },
      {
        Input: '{"action":"fail","message":"always"}',
      },
    ),
    ...schedule(
      'Die',
      'Dying',
      'TickerRole',
      { Name: 'die', ScheduleExpression: 'rate(1 day)' },
      {
        Input: '{"action":"fail","message":"always"}',
      },
    ),
    ...schedule(
      'Denied',
      'Ticked',
      'PowerlessRole',
      { Name: 'denied', ScheduleExpression: 'rate(1 day)' },
      {
        Input: '{"denied":true}',
        DeadLetterConfig: { Arn: arnOf('Unreached') },
      },
    ),
    ...schedule('Sleeping', 'Ticked', 'TickerRole', { State: 'DISABLED' }),
  },
  { scheduleSpeed: SPEED },
)

const receive = async (name: string) => {
  const client = new SQSClient({
    endpoint: under.cloud.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  const { Messages: [message] = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: under.cloud.queueUrl(name),
      WaitTimeSeconds: 5,
      MessageAttributeNames: ['All'],
    }),
  )
  return message
}

const ticks = () => under.cloud.invocations('Ticked').filter(({ trigger }) => trigger === 'schedule')

it('a rate begins at once and comes again, faster by the speed', async () => {
  const found = await until(() => (ticks().length >= 4 ? ticks() : undefined))
  const times = found.map(({ startedAt }) => startedAt)
  const gaps = times.slice(1).map((at, place) => at - (times[place] ?? 0))
  expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeGreaterThan(150)
  expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeLessThan(5000)
})

it('the input tells the schedule and its time', async () => {
  const [first] = await until(() => (ticks().length > 0 ? ticks() : undefined))
  expect(first?.payload).toEqual({
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    schedule: 'arn:aws:scheduler:us-east-1:000000000000:schedule/default/tick',
  })
})

it('a failed event is not tried again without retries, and its record goes to the destination', async () => {
  const message = await receive('Gone')
  expect(JSON.parse(message?.Body ?? '')).toMatchObject({
    requestContext: { condition: 'RetriesExhausted', approximateInvokeCount: 1 },
    requestPayload: { action: 'fail' },
    responsePayload: { errorType: 'TypeError', errorMessage: 'always' },
  })
  expect(under.cloud.invocations('Failing')).toHaveLength(1)
})

it('a failed event goes as it is to the dead-letter queue of its function', async () => {
  const message = await receive('DeadLetters')
  expect(message?.Body).toBe('{"action":"fail","message":"always"}')
  expect(message?.MessageAttributes?.ErrorMessage?.StringValue).toBe('always')
})

it('a schedule whose role may not invoke ends in the dead-letter queue of the schedule', async () => {
  const message = await receive('Unreached')
  expect(message?.Body).toBe('{"denied":true}')
  expect(message?.MessageAttributes?.ERROR_MESSAGE?.StringValue).toContain('lambda:InvokeFunction')
  expect(ticks().some(({ payload }) => JSON.stringify(payload).includes('denied'))).toBe(false)
})

const call = async (method: string, name: string, body?: object) => {
  const response = await fetch(`${under.cloud.endpoint}/schedules/${name}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, error: response.headers.get('x-amzn-errortype'), body: await response.json() }
}

const target = async () => {
  const { body } = await call('GET', 'tick')
  return (body as { Target: { Arn: string; RoleArn: string } }).Target
}

afterEach(async () => {
  await call('DELETE', 'once')
})

it("the Scheduler's API tells schedules of the template", async () => {
  expect(await call('GET', 'tick')).toMatchObject({
    status: 200,
    body: { Name: 'tick', GroupName: 'default', ScheduleExpression: 'rate(1 minute)', State: 'ENABLED' },
  })
})

it('a schedule made by the API fires once, and is removed if it is to be', async () => {
  const at = new Date(Date.now() + 1000).toISOString().slice(0, 19)
  const made = await call('POST', 'once', {
    ScheduleExpression: `at(${at})`,
    FlexibleTimeWindow: { Mode: 'OFF' },
    ActionAfterCompletion: 'DELETE',
    Target: { ...(await target()), Input: '{"once":true}' },
  })
  expect(made.body).toEqual({ ScheduleArn: 'arn:aws:scheduler:us-east-1:000000000000:schedule/default/once' })
  await until(() => ticks().find(({ payload }) => (payload as { once?: boolean }).once))
  expect((await call('GET', 'once')).status).toBe(404)
})

it('a schedule is changed, paused and removed', async () => {
  const body = {
    ScheduleExpression: 'rate(1 day)',
    FlexibleTimeWindow: { Mode: 'OFF' },
    State: 'DISABLED',
    Target: { ...(await target()), Input: '{"changed":true}' },
  }
  expect((await call('POST', 'once', body)).status).toBe(200)
  expect(await call('POST', 'once', body)).toMatchObject({ status: 409, error: 'ConflictException' })
  expect((await call('PUT', 'once', { ...body, State: 'ENABLED' })).status).toBe(200)
  await until(() => ticks().find(({ payload }) => (payload as { changed?: boolean }).changed))
  expect((await call('DELETE', 'once')).status).toBe(200)
  expect(await call('DELETE', 'once')).toMatchObject({ status: 404, error: 'ResourceNotFoundException' })
  expect(await call('PUT', 'once', body)).toMatchObject({ status: 404 })
})

it('a schedule that is malformed is refused', async () => {
  expect(await call('POST', 'once', { ScheduleExpression: 'rate(1 second)', FlexibleTimeWindow: {} })).toMatchObject({
    status: 400,
    error: 'ValidationException',
  })
  expect(await call('POST', 'once', { ScheduleExpression: 'rate(1 minute)' })).toMatchObject({ status: 400 })
  expect(
    await call('POST', 'once', { ScheduleExpression: 'rate(1 minute)', FlexibleTimeWindow: {}, Target: {} }),
  ).toMatchObject({ status: 400 })
})
