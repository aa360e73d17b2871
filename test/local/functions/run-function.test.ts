import { expect, it } from 'vitest'
import { lambda } from '../support/resources.js'
import { shareCloud, until } from '../support/start-cloud.js'

const under = shareCloud({
  ...lambda('Probe', 'probe', [], {
    Timeout: 2,
    MemorySize: 256,
    Environment: { Variables: { STAGE: 'test', TABLE: { Ref: 'AWS::Region' } } },
  }),
  ...lambda('Small', 'probe', [], { Timeout: 20, MemorySize: 128 }),
  ...lambda('Single', 'probe', [], { ReservedConcurrentExecutions: 1 }),
  ...lambda('Off', 'probe', [], { ReservedConcurrentExecutions: 0 }),
  ...lambda('Broken', 'broken'),
  ...lambda('Commonjs', 'commonjs', [], { Handler: 'app.handler' }),
  ...lambda('Nameless', 'probe', [], { Handler: 'index.missing' }),
})

it('a function gets its event and answers', async () => {
  const { outcome, payload, error } = await under.cloud.invoke('Probe', { hello: ['wörld'] })
  expect({ outcome, payload, error }).toEqual({ outcome: 'ok', payload: { hello: ['wörld'] }, error: undefined })
})

it('a function is found by logical id, path with or without the stack, and name', async () => {
  const { outcome } = await under.cloud.invoke('Demo/Probe')
  expect(outcome).toBe('ok')
  expect((await under.cloud.invoke('Demo/Probe/Resource')).function).toBe('Probe')
  const { payload } = await under.cloud.invoke('Probe', { action: 'context' })
  expect((await under.cloud.invoke((payload as { functionName: string }).functionName)).function).toBe('Probe')
  await expect(under.cloud.invoke('Nobody')).rejects.toMatchObject({ code: 'name.unknown' })
  await expect(under.cloud.invoke('Nobody')).rejects.toThrow(/there is no function Nobody.*Demo\/Probe/)
})

it('a process is kept for the next invocation, and only its first has an init', async () => {
  const first = await under.cloud.invoke('Small', { action: 'count' })
  const second = await under.cloud.invoke('Small', { action: 'count' })
  expect(first.initMs).toBeGreaterThan(0)
  expect(second.initMs).toBeUndefined()
  expect(second.pid).toBe(first.pid)
  expect((second.payload as { invocations: number }).invocations).toBe(2)
})

it('invocations at the same time run in processes of their own', async () => {
  const both = await Promise.all([1, 2].map(() => under.cloud.invoke('Probe', { action: 'sleep', ms: 200 })))
  expect(new Set(both.map(({ pid }) => pid)).size).toBe(2)
})

it('the environment is what Lambda and the template set, with the endpoints of the cloud', async () => {
  const names = ['STAGE', 'TABLE', 'AWS_REGION', 'AWS_ENDPOINT_URL_SQS', 'AWS_LAMBDA_FUNCTION_MEMORY_SIZE', 'HOME']
  const { payload } = await under.cloud.invoke('Probe', { action: 'environment', names })
  expect(payload).toEqual({
    STAGE: 'test',
    TABLE: 'us-east-1',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: under.cloud.endpoint,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
  })
})

it('the context tells the request, the function and the time that is left', async () => {
  const { payload, requestId } = await under.cloud.invoke('Probe', { action: 'context' })
  expect(payload).toMatchObject({ awsRequestId: requestId, functionVersion: '$LATEST', memoryLimitInMB: '256' })
  const { remainingMs } = payload as { remainingMs: number }
  expect(remainingMs).toBeGreaterThan(1000)
  expect(remainingMs).toBeLessThanOrEqual(2000)
})

it('the lines of both streams belong to their invocation', async () => {
  const { logs } = await under.cloud.invoke('Probe', { action: 'log', lines: ['one', 'two'] })
  expect([...logs].sort()).toEqual(['one', 'to the other stream', 'two', 'without a line break'])
  expect((await under.cloud.invoke('Probe')).logs).toEqual([])
  expect(under.lines).toContain('  | two')
})

it('an error tells its type and message, and the process lives on', async () => {
  const failed = await under.cloud.invoke('Probe', { action: 'fail', message: 'no such order' })
  expect(failed).toMatchObject({
    outcome: 'error',
    payload: undefined,
    error: { errorType: 'TypeError', errorMessage: 'no such order' },
  })
  expect(failed.logs.join()).toContain('Invoke Error')
  expect((await under.cloud.invoke('Probe', { action: 'count' })).pid).toBe(failed.pid)
  expect(
    under.lines.some((line) => /^Demo\/Probe error \d+ ms.* \[invoke\]: TypeError: no such order$/.test(line)),
  ).toBe(true)
})

it('a result that is no JSON is an error, and none is null', async () => {
  expect(await under.cloud.invoke('Probe', { action: 'circular' })).toMatchObject({ outcome: 'error' })
  expect(await under.cloud.invoke('Probe', { action: 'nothing' })).toMatchObject({ outcome: 'ok', payload: null })
})

it('a function that runs out of its time is killed', async () => {
  const late = await under.cloud.invoke('Probe', { action: 'sleep', ms: 60_000 })
  expect(late).toMatchObject({
    outcome: 'timeout',
    error: { errorMessage: expect.stringContaining('Task timed out after 2.00 seconds') },
  })
  expect(late.durationMs).toBeLessThan(20_000)
  expect(under.cloud.pids('Probe')).not.toContain(late.pid)
})

it('a process that ends is a crash, and the next invocation has another', async () => {
  const crashed = await under.cloud.invoke('Probe', { action: 'exit' })
  expect(crashed).toMatchObject({ outcome: 'crashed', error: { errorType: 'Runtime.ExitError' } })
  expect(crashed.error?.errorMessage).toContain('exit status 7')
  expect((await under.cloud.invoke('Probe', { action: 'count' })).pid).not.toBe(crashed.pid)
})

it('a function that needs more than its memory crashes', async () => {
  const { outcome, error } = await under.cloud.invoke('Small', { action: 'fillMemory' })
  expect(outcome).toBe('crashed')
  expect(error?.errorMessage).toContain('SIGABRT')
})

it('a killed function fails its invocation at once, and lives on', async () => {
  const running = under.cloud.invoke('Small', { action: 'sleep', ms: 15_000 })
  const pid = await until(() => under.cloud.pids('Small')[0])
  await until(() => (under.cloud.kill('Small').includes(pid) ? true : undefined))
  expect(await running).toMatchObject({
    outcome: 'crashed',
    error: { errorMessage: expect.stringContaining('SIGKILL') },
  })
  expect((await under.cloud.invoke('Small')).outcome).toBe('ok')
})

it('a process that is killed from outside between invocations is replaced', async () => {
  const { pid } = await under.cloud.invoke('Commonjs')
  process.kill(pid, 'SIGKILL')
  await until(() => (under.cloud.pids('Commonjs').includes(pid) ? undefined : true))
  expect(await under.cloud.invoke('Commonjs', 1)).toMatchObject({
    outcome: 'ok',
    payload: { from: 'commonjs', event: 1 },
  })
})

it('invocations above the reserved concurrency are throttled', async () => {
  const both = await Promise.all([1, 2].map(() => under.cloud.invoke('Single', { action: 'sleep', ms: 100 })))
  expect(both.map(({ outcome }) => outcome)).toEqual(['ok', 'throttled'])
  expect((await under.cloud.invoke('Off')).outcome).toBe('throttled')
})

it('invocations beyond the processes of this machine wait for their turn', async () => {
  const many = await Promise.all(Array.from({ length: 14 }, () => under.cloud.invoke('Commonjs', 1)))
  expect(many.every(({ outcome }) => outcome === 'ok')).toBe(true)
  expect(under.cloud.pids('Commonjs').length).toBeLessThanOrEqual(10)
})

it('a handler that can not be loaded tells why', async () => {
  expect(await under.cloud.invoke('Broken')).toMatchObject({
    outcome: 'init-error',
    error: { errorType: 'RangeError', errorMessage: 'this module can not be loaded' },
  })
  expect(await under.cloud.invoke('Nameless')).toMatchObject({
    outcome: 'init-error',
    error: { errorMessage: 'index.missing is undefined or not a function' },
  })
})

it('Lambda answers Invoke over HTTP', async () => {
  const url = `${under.cloud.endpoint}/2015-03-31/functions/Demo-Nobody/invocations`
  expect((await fetch(url, { method: 'POST' })).status).toBe(404)
  const { payload } = await under.cloud.invoke('Probe', { action: 'context' })
  const { functionName } = payload as { functionName: string }
  const call = (body: object, headers = {}) =>
    fetch(url.replace('Demo-Nobody', functionName), { method: 'POST', body: JSON.stringify(body), headers })
  expect(await (await call({ a: 1 })).json()).toEqual({ a: 1 })
  const failed = await call({ action: 'fail', message: 'no' })
  expect(failed.headers.get('x-amz-function-error')).toBe('Unhandled')
  expect((await call({ later: true }, { 'x-amz-invocation-type': 'Event' })).status).toBe(202)
  await until(() => under.cloud.invocations('Probe').find(({ trigger }) => trigger === 'event'))
})
