import { invalidResource, objectOf } from '../assembly/read-property.js'
import type { Resource } from '../assembly/template.js'

const givenKey = (resource: Resource): unknown =>
  resource.type === 'AWS::DynamoDB::Table'
    ? objectOf(resource, 'SSESpecification').KMSMasterKeyId
    : resource.properties.KmsMasterKeyId

/**
 * The customers' keys that encrypt tables, topics and queues, by the ARN of what they encrypt. Keys of AWS
 * (`alias/aws/...`) need no grant of the caller.
 * @throws LocalCloudError `resource.invalid` for another alias
 */
export const findKeys = (resources: readonly Resource[]): ReadonlyMap<string, string> => {
  const keys = resources.filter(({ type }) => type === 'AWS::KMS::Key')
  const found = new Map<string, string>()
  for (const resource of resources) {
    if (!['AWS::DynamoDB::Table', 'AWS::SNS::Topic', 'AWS::SQS::Queue'].includes(resource.type)) continue
    const given = givenKey(resource)
    if (given === undefined || String(given).includes('alias/aws/')) continue
    if (String(given).includes('alias/'))
      throw invalidResource(resource, `its key is ${String(given)}; give the key itself, an alias is not known here`)
    found.set(resource.arn, keys.find(({ ref, arn }) => ref === given || arn === given)?.arn ?? String(given))
  }
  return found
}
