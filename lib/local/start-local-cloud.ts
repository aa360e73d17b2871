import { type Assembly, readAssembly } from './assembly/read-assembly.js'
import { type ResolvedAssembly, resolveAssembly } from './assembly/resolve-assembly.js'
import { deployAssembly } from './deploy/deploy-assembly.js'
import { findResource } from './deploy/find-resource.js'
import { startDynamoDb } from './emulators/dynamodb.js'
import { startMessaging } from './emulators/messaging.js'
import { readEventSource } from './events/event-source.js'
import { pollQueue } from './events/poll-queue.js'
import { runSchedules } from './events/run-schedules.js'
import { readSchedule } from './events/schedule-definition.js'
import { describeInvocation, type Invocation } from './functions/invocation.js'
import { runFunctions } from './functions/run-functions.js'
import { startRuntimeApi } from './functions/runtime-api.js'
import type { DeniedCall, LocalCloud, LocalCloudOptions } from './local-cloud.js'
import { LocalCloudError } from './local-error.js'
import { measureQueues } from './metrics/measure-queues.js'
import { readAlarms } from './metrics/read-alarms.js'
import { readEmbeddedMetrics } from './metrics/read-embedded-metrics.js'
import { recordInvocation } from './metrics/record-invocation.js'
import { keep, makeMetricRecorder } from './metrics/record-metrics.js'
import { serveCloud } from './proxy/serve-cloud.js'
import { type CloudProxy, startProxy } from './proxy/start-proxy.js'

/** Ends what was started, last first. */
type Cleanup = (() => unknown)[]

const describeInert = ({ inert }: ResolvedAssembly): string => {
  const counts = new Map<string, number>()
  for (const { type } of inert) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].map(([type, count]) => `${count} ${type}`).join(', ')
}

const unknownCalls = (operations: ReadonlySet<string>): LocalCloudError =>
  new LocalCloudError(
    'call.unknown',
    `functions called what the local cloud does not know: ${[...operations].join('; ')}`,
    'Teach lib/local what it needs of IAM and does.',
  )

const startInside = async (
  options: LocalCloudOptions,
  { place, stacks }: Assembly,
  proxy: CloudProxy,
  cleanup: Cleanup,
): Promise<LocalCloud> => {
  const { scheduleSpeed = 1, log = true, onLine: print = console.log } = options
  let stopped = false
  const onLine = (line: string) => {
    if (!stopped) print(line)
  }
  const queueUrl = (name: string) => `${proxy.endpoint}/${place.accountId}/${name}`
  const resolved = resolveAssembly({ place, stacks }, { place, queueUrl })
  if (resolved.inert.length > 0) onLine(`nothing to do here for ${describeInert(resolved)}`)

  const dynamodb = await startDynamoDb(options.dynamodb)
  cleanup.push(() => dynamodb.stop())
  const messaging = await startMessaging()
  cleanup.push(() => messaging.stop())
  const runtimeApi = await startRuntimeApi()
  cleanup.push(() => runtimeApi.stop())
  const endpoints = { dynamodb: dynamodb.endpoint, messaging: messaging.endpoint }
  const deployed = await deployAssembly(resolved, place, endpoints)
  const { queues, client, access, resources } = deployed

  const metrics = makeMetricRecorder()
  const invocations: Invocation[] = []
  const denials: DeniedCall[] = []
  const unknown = new Set<string>()
  const functions = runFunctions({
    ...{ deployed, runtimeApi, region: place.region, endpoint: proxy.endpoint, metrics, onLine },
    onInvocation: (invocation, { name }) => {
      if (stopped) return
      keep(invocations, invocation)
      recordInvocation(invocation, name, metrics)
      onLine(describeInvocation(invocation))
      if (!log) return
      // Metrics are kept as metrics; as lines they would only bury the others.
      for (const line of invocation.logs) if (readEmbeddedMetrics(line).length === 0) onLine(`  | ${line}`)
    },
  })
  // Should this process end without stop(), no function outlives it.
  const killAll = () => {
    for (const { pool } of functions) pool.kill()
  }
  process.once('exit', killAll)
  cleanup.push(
    () => process.off('exit', killAll),
    () => Promise.all(functions.map(({ pool }) => pool.stop())),
  )
  const find = (name: string) =>
    findResource(
      'function',
      name,
      functions.map((running) => ({ ...running, ...running.definition })),
    )

  const invokers = new Map(functions.map(({ definition, asynchronous }) => [definition.arn, asynchronous]))
  const schedules = runSchedules({ functions: invokers, queues, client, access, onLine }, scheduleSpeed)
  const served = serveCloud({
    runsStatements: dynamodb.batching === 'partiql',
    ...{ deployed, outputs: resolved.outputs, functions, schedules, place, endpoints, metrics, onLine },
    events: {
      onDenial: (path, denial) => {
        denials.push({ ...denial, path })
        onLine(`AccessDenied: ${denial.message}`)
      },
      onUnknown: (path, operation) => {
        unknown.add(`${operation} by ${path}`)
        onLine(`unknown call: ${operation} by ${path}`)
      },
    },
  })
  proxy.serve(served.content)
  cleanup.push(served.close)

  const ofType = (type: string) => resources.filter((resource) => resource.type === type)
  for (const resource of ofType('AWS::Lambda::EventSourceMapping')) {
    const source = readEventSource(resource)
    const queue = findResource('queue', source.queueArn, queues)
    const onFailure = (error: unknown) => onLine(`${source.path} could not poll: ${String(error)}`)
    cleanup.push(pollQueue(source, queue, find(source.functionName).pool, client, onFailure))
  }
  for (const resource of ofType('AWS::Scheduler::Schedule')) schedules.put(readSchedule(resource))
  cleanup.push(schedules.stop, ...functions.map(({ asynchronous }) => asynchronous.stop))
  cleanup.push(() => {
    stopped = true
  })

  const measure = async () => [...metrics.samples(), ...(await measureQueues(queues, client))]
  return {
    endpoint: proxy.endpoint,
    outputs: resolved.outputs,
    invoke: async (name, payload = {}) => find(name).pool.invoke(JSON.stringify(payload), 'invoke'),
    kill: (name) => find(name).pool.kill(),
    pids: (name) => find(name).pool.pids(),
    queueUrl: (name) => findResource('queue', name, queues).url,
    invocations: (name) => {
      // Logical ids are unique within a stack only.
      const { path } = name === undefined ? { path: undefined } : find(name)
      return invocations.filter((invocation) => path === undefined || invocation.path === path)
    },
    denials: () => [...denials],
    metrics: measure,
    alarms: async () => readAlarms(resolved.inert, await measure(), Date.now()),
    stop: async () => {
      for (const end of cleanup.splice(0).reverse()) await end()
      if (unknown.size > 0) throw unknownCalls(unknown)
    },
  }
}

/**
 * Starts a cloud on this machine that runs a synthesized app unchanged: its tables, topics, queues and subscriptions on
 * emulators, each function as a process of its own, event sources and schedules, AWS's rules, and IAM.
 * @throws LocalCloudError when the app holds what the local cloud does not know, or what AWS would refuse
 * @example
 * const cloud = await startLocalCloud({ assembly: 'cdk.out', scheduleSpeed: 60 })
 * const { outcome, payload } = await cloud.invoke('Shop/Orders', { orderId: '1' })
 * await cloud.stop()
 */
export const startLocalCloud = async (options: LocalCloudOptions = {}): Promise<LocalCloud> => {
  const assembly = readAssembly(options.assembly ?? 'cdk.out', options.region ?? 'us-east-1')
  const proxy = await startProxy()
  const cleanup: Cleanup = [() => proxy.stop()]
  try {
    return await startInside(options, assembly, proxy, cleanup)
  } catch (error) {
    for (const end of cleanup.reverse()) await end()
    throw error
  }
}
