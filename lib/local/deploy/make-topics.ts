import { flagOf, invalidResource, objectOf, optionalTextOf, textOf } from '../assembly/read-property.js'
import type { Resource } from '../assembly/template.js'
import type { EmulatorCalls } from './call-emulator.js'
import { type FilterPolicy, readFilterPolicy } from './filter-policy.js'
import { type Queue, toEmulatorArn } from './make-queues.js'

/** A subscription of a queue to a topic. */
export interface Subscription {
  readonly path: string
  readonly arn: string
  readonly queue: Queue
  readonly raw: boolean
  /** `undefined`: every message passes. */
  readonly filter: FilterPolicy | undefined
  /** Gets what can't be delivered. */
  readonly deadLetterQueue: Queue | undefined
}

/** A topic as the cloud runs it. */
export interface Topic {
  readonly name: string
  readonly arn: string
  readonly path: string
  readonly subscriptions: readonly Subscription[]
}

const findQueue = (resource: Resource, arn: string, queues: readonly Queue[]): Queue => {
  const queue = queues.find((candidate) => candidate.arn === arn)
  if (queue === undefined) throw invalidResource(resource, `the queue ${arn} does not exist`)
  return queue
}

const readSubscription = (resource: Resource, queues: readonly Queue[]): Subscription => {
  const protocol = textOf(resource, 'Protocol')
  if (protocol !== 'sqs') throw invalidResource(resource, `its protocol is ${protocol}; only sqs is known here`)
  const scope = optionalTextOf(resource, 'FilterPolicyScope') ?? 'MessageAttributes'
  if (scope !== 'MessageAttributes') throw invalidResource(resource, `its filter's scope is ${scope}, not known here`)
  const queue = findQueue(resource, textOf(resource, 'Endpoint'), queues)
  const topicArn = textOf(resource, 'TopicArn')
  if (queue.name.endsWith('.fifo') || topicArn.endsWith('.fifo'))
    throw invalidResource(resource, 'first-in-first-out queues and topics are not known here')
  const { deadLetterTargetArn } = objectOf(resource, 'RedrivePolicy')
  return {
    path: resource.path,
    arn: resource.arn,
    queue,
    raw: flagOf(resource, 'RawMessageDelivery', false),
    filter:
      resource.properties.FilterPolicy === undefined
        ? undefined
        : readFilterPolicy(objectOf(resource, 'FilterPolicy'), (rule) => invalidResource(resource, rule)),
    deadLetterQueue:
      deadLetterTargetArn === undefined ? undefined : findQueue(resource, String(deadLetterTargetArn), queues),
  }
}

/** Attributes of a subscription, as SNS names them. */
const attributesOf = (resource: Resource): Record<string, string> => {
  const { FilterPolicy: filter, RedrivePolicy: redrive, RawMessageDelivery: raw } = resource.properties
  const given = { RawMessageDelivery: String(raw ?? false), FilterPolicy: filter, RedrivePolicy: redrive }
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    entries.flatMap(([key, value], place): [string, string][] => [
      [`Attributes.entry.${place + 1}.key`, key],
      [`Attributes.entry.${place + 1}.value`, typeof value === 'string' ? value : JSON.stringify(value)],
    ]),
  )
}

/**
 * Makes a topic and its subscriptions on the emulator, which answers questions about them; deliveries are the proxy's.
 * @throws LocalCloudError `resource.invalid`
 */
export const makeTopic = async (
  topic: Resource,
  resources: readonly Resource[],
  queues: readonly Queue[],
  emulator: EmulatorCalls,
): Promise<Topic> => {
  await emulator.form({ Action: 'CreateTopic', Name: topic.name })
  const own = resources.filter(
    (resource) => resource.type === 'AWS::SNS::Subscription' && resource.properties.TopicArn === topic.arn,
  )
  const subscriptions = own.map((resource) => readSubscription(resource, queues))
  for (const resource of own)
    await emulator.form({
      Action: 'Subscribe',
      TopicArn: toEmulatorArn(topic.arn),
      Protocol: 'sqs',
      Endpoint: toEmulatorArn(textOf(resource, 'Endpoint')),
      ...attributesOf(resource),
    })
  return {
    name: topic.name,
    arn: topic.arn,
    path: topic.path,
    subscriptions,
  }
}
