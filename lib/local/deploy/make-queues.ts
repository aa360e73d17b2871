import { EMULATOR_ACCOUNT } from '../assembly/read-assembly.js'
import { numberOf, objectOf } from '../assembly/read-property.js'
import type { Resource } from '../assembly/template.js'
import type { EmulatorCalls } from './call-emulator.js'

/** A queue as the cloud runs it. */
export interface Queue {
  readonly logicalId: string
  readonly path: string
  readonly name: string
  readonly arn: string
  /** Where functions reach it. */
  readonly url: string
  /** Where the emulator has it. */
  readonly emulatorUrl: string
  readonly visibilitySeconds: number
}

const numbers = [
  ...['DelaySeconds', 'VisibilityTimeout', 'MessageRetentionPeriod', 'MaximumMessageSize'],
  'ReceiveMessageWaitTimeSeconds',
]

/** An ARN in the one account that the emulator knows; any other text as it is. */
export const toEmulatorArn = (arn: string): string => arn.replace(/^(arn:(?:[^:]*:){3})\d+/, `$1${EMULATOR_ACCOUNT}`)

/** Makes a queue on the emulator. @throws LocalCloudError `resource.invalid` for values out of range */
export const makeQueue = async (resource: Resource, emulator: EmulatorCalls): Promise<Queue> => {
  const attributes: Record<string, string> = {}
  for (const name of numbers)
    if (resource.properties[name] !== undefined) attributes[name] = String(numberOf(resource, name, 0))
  const { deadLetterTargetArn, maxReceiveCount } = objectOf(resource, 'RedrivePolicy')
  if (deadLetterTargetArn !== undefined)
    attributes.RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: toEmulatorArn(String(deadLetterTargetArn)),
      maxReceiveCount: Number(maxReceiveCount),
    })
  const { QueueUrl: emulatorUrl } = await emulator.json('AmazonSQS.CreateQueue', {
    QueueName: resource.name,
    Attributes: attributes,
  })
  return {
    logicalId: resource.logicalId,
    path: resource.path,
    name: resource.name,
    arn: resource.arn,
    url: resource.ref,
    emulatorUrl: String(emulatorUrl),
    visibilitySeconds: numberOf(resource, 'VisibilityTimeout', 30),
  }
}
