import { invalidResource, listOf } from '../assembly/read-property.js'
import type { JsonObject, Resource } from '../assembly/template.js'
import type { EmulatorCalls } from './call-emulator.js'

/** A table as the cloud runs it. */
export interface Table {
  readonly name: string
  readonly arn: string
  /** The attribute that `dynamodb:LeadingKeys` speaks of. */
  readonly partitionKey: string
  /** The names of its key attributes, the partition key first. */
  readonly keys: readonly string[]
}

/** Reads a table. @throws LocalCloudError `resource.invalid` */
export const readTable = (resource: Resource): Table => {
  const keys = listOf(resource, 'KeySchema') as readonly JsonObject[]
  const partitionKey = keys.find(({ KeyType: type }) => type === 'HASH')?.AttributeName
  if (typeof partitionKey !== 'string') throw invalidResource(resource, 'its KeySchema has no partition key')
  const names = keys.flatMap(({ AttributeName: name }) => (typeof name === 'string' ? name : []))
  const sorted = [partitionKey, ...names.filter((name) => name !== partitionKey)]
  return { name: resource.name, arn: resource.arn, partitionKey, keys: sorted }
}

/** Makes a table on the emulator. Capacity, backups and streams are left out: nothing local depends on them. */
export const makeTable = async (resource: Resource, emulator: EmulatorCalls): Promise<void> => {
  await emulator.json('DynamoDB_20120810.CreateTable', {
    TableName: resource.name,
    KeySchema: listOf(resource, 'KeySchema'),
    AttributeDefinitions: listOf(resource, 'AttributeDefinitions'),
    BillingMode: 'PAY_PER_REQUEST',
  })
}
