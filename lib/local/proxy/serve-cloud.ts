import type { ResolvedAssembly } from '../assembly/resolve-assembly.js'
import type { Place } from '../assembly/template.js'
import type { DeployedAssembly } from '../deploy/deploy-assembly.js'
import { findResource } from '../deploy/find-resource.js'
import type { Schedules } from '../events/run-schedules.js'
import type { RunningFunction } from '../functions/run-functions.js'
import type { MetricRecorder } from '../metrics/record-metrics.js'
import { makeCloudFormationService } from './cloudformation-service.js'
import { makeDynamoDbService } from './dynamodb-service.js'
import { forwardTo } from './forward-call.js'
import { makeLambdaService } from './lambda-service.js'
import { makeSchedulerService } from './scheduler-service.js'
import type { ProxyEvents } from './service.js'
import { makeSnsService } from './sns-service.js'
import { makeSqsService } from './sqs-service.js'
import type { ProxyContent } from './start-proxy.js'
import { runStatementsAsItems } from './statements-as-items.js'

/** All that the services serve. */
export interface ServedCloud {
  readonly deployed: DeployedAssembly
  readonly outputs: ResolvedAssembly['outputs']
  readonly functions: readonly RunningFunction[]
  readonly schedules: Schedules
  readonly place: Place
  readonly endpoints: { readonly dynamodb: string; readonly messaging: string }
  /** Whether the emulator of DynamoDB knows PartiQL. */
  readonly runsStatements: boolean
  readonly metrics: MetricRecorder
  readonly events: ProxyEvents
  readonly onLine: (line: string) => void
}

/** Makes the services of a cloud. @returns also closes the connections to the emulators */
export const serveCloud = (cloud: ServedCloud): { readonly content: ProxyContent; close(): void } => {
  const { deployed, outputs, functions, schedules, place, endpoints, metrics, events, onLine } = cloud
  const { tables, queues, topics, client, access } = deployed
  const toDynamoDb = forwardTo(endpoints.dynamodb)
  const toMessaging = forwardTo(endpoints.messaging)
  const tableNames = {
    arnOf: (name: string) =>
      name.startsWith('arn:')
        ? name
        : `arn:${place.partition}:dynamodb:${place.region}:${place.accountId}:table/${name}`,
    partitionKeyOf: (name: string) => tables.find((table) => [table.name, table.arn].includes(name))?.partitionKey,
  }
  const keysOf = (name: string) => tables.find((table) => [table.name, table.arn].includes(name))?.keys
  const forwardToDynamoDb = cloud.runsStatements ? toDynamoDb.forward : runStatementsAsItems(keysOf, toDynamoDb.forward)
  const findFunction = (name: string) => {
    const candidates = functions.map((running) => ({ ...running, ...running.definition }))
    return candidates.some((candidate) => [candidate.name, candidate.arn].includes(name))
      ? findResource('function', name, candidates)
      : undefined
  }
  const byAccessKey = new Map(functions.map(({ accessKeyId, caller }) => [accessKeyId, caller]))
  return {
    content: {
      events,
      callerOf: (accessKeyId) => byAccessKey.get(accessKeyId),
      services: {
        dynamodb: makeDynamoDbService(tableNames, forwardToDynamoDb),
        sqs: makeSqsService(queues, toMessaging.forward),
        sns: makeSnsService(topics, place.accountId, { client, access, metrics, onLine }, toMessaging.forward),
        scheduler: makeSchedulerService(schedules, place),
        lambda: makeLambdaService(findFunction),
        cloudformation: makeCloudFormationService(outputs, place),
      },
    },
    close: () => {
      toDynamoDb.close()
      toMessaging.close()
    },
  }
}
