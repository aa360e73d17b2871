import { type AccessCheck, makeAccessCheck } from '../access/check-access.js'
import { readResourcePolicies } from '../access/read-resource-policies.js'
import { readRoles } from '../access/read-roles.js'
import type { ResolvedAssembly } from '../assembly/resolve-assembly.js'
import type { Place, Resource } from '../assembly/template.js'
import { type FunctionDefinition, readFunction } from '../functions/function-definition.js'
import { callEmulator } from './call-emulator.js'
import { checkDeployment } from './check-deployment.js'
import { findKeys } from './find-keys.js'
import { makeQueue, type Queue } from './make-queues.js'
import { makeTable, readTable, type Table } from './make-tables.js'
import { makeTopic, type Topic } from './make-topics.js'
import { makeQueueClient, type QueueClient } from './queue-client.js'

/** An app whose resources exist on the emulators. */
export interface DeployedAssembly {
  readonly resources: readonly Resource[]
  readonly tables: readonly Table[]
  readonly queues: readonly Queue[]
  readonly topics: readonly Topic[]
  readonly functions: readonly FunctionDefinition[]
  readonly access: AccessCheck
  /** Of the services, which do not go through the proxy. */
  readonly client: QueueClient
}

/**
 * Makes the resources of an app on the emulators, and checks what AWS would check.
 * @param endpoints of the emulators
 * @throws LocalCloudError `resource.invalid` and its kin
 */
export const deployAssembly = async (
  { resources, assets }: ResolvedAssembly,
  place: Place,
  endpoints: { readonly dynamodb: string; readonly messaging: string },
): Promise<DeployedAssembly> => {
  const ofType = (type: string) => resources.filter((resource) => resource.type === type)
  const dynamodb = callEmulator(endpoints.dynamodb, place.region)
  const messaging = callEmulator(endpoints.messaging, place.region)

  await Promise.all(ofType('AWS::DynamoDB::Table').map((resource) => makeTable(resource, dynamodb)))
  const queues = await Promise.all(ofType('AWS::SQS::Queue').map((resource) => makeQueue(resource, messaging)))
  const topics = await Promise.all(
    ofType('AWS::SNS::Topic').map((resource) => makeTopic(resource, resources, queues, messaging)),
  )
  const functions = ofType('AWS::Lambda::Function').map((resource) => readFunction(resource, assets))
  const access = makeAccessCheck({
    place,
    roles: readRoles(resources),
    resourcePolicies: readResourcePolicies(resources),
    keys: findKeys(resources),
  })
  await checkDeployment({ resources, functions, queues, access })
  return {
    resources,
    tables: ofType('AWS::DynamoDB::Table').map(readTable),
    queues,
    topics,
    functions,
    access,
    client: makeQueueClient(messaging),
  }
}
