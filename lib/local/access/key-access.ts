import type { Access } from './policy.js'

/**
 * What a call does with the customer's key of the resource, on behalf of the caller. A caller without it is refused.
 * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
 * @see https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
 */
export const keyActionsFor = (action: string): readonly string[] => {
  if (action === 'sqs:SendMessage' || action === 'sns:Publish') return ['kms:GenerateDataKey', 'kms:Decrypt']
  if (action === 'sqs:ReceiveMessage') return ['kms:Decrypt']
  if (action.startsWith('dynamodb:') && !action.startsWith('dynamodb:Describe')) return ['kms:Decrypt']
  return []
}

/** The key accesses of a call, when the resource has a customer's key. */
export const keyAccesses = (access: Access, keyArn: string, accountId: string): readonly Access[] => {
  const [service = ''] = access.action.split(':')
  const region = keyArn.split(':')[3] ?? ''
  return keyActionsFor(access.action).map((action) => ({
    action,
    resource: keyArn,
    context: { 'kms:ViaService': `${service}.${region}.amazonaws.com`, 'kms:CallerAccount': accountId },
  }))
}
