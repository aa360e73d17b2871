import { App, Stack } from 'aws-cdk-lib'
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions'
import { type IKey, Key } from 'aws-cdk-lib/aws-kms'
import { beforeAll, describe, expect, it } from 'vitest'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import { MessageReceiver } from '../../lib/constructs/message-receiver.js'
import { bundleFunctions, synthesize, userFunction } from './synthesize.js'

beforeAll(bundleFunctions)

const addShop = (stack: Stack, encryptionKey: IKey | undefined, ofReceiver?: IKey) => {
  const delivery = new DelayedDelivery(stack, 'Delivery', { busName: 'orders', encryptionKey })
  new MessageReceiver(stack, 'Billing', {
    delivery,
    name: 'billing',
    handler: userFunction(stack, 'Handler'),
    messages: ['orders/place'],
    encryptionKey: ofReceiver,
  })
}

/** The statement without which SNS takes messages and loses them. */
const snsMayUseTheKey = Match.objectLike({
  Effect: 'Allow',
  Principal: { Service: 'sns.amazonaws.com' },
  Action: ['kms:Decrypt', 'kms:GenerateDataKey'],
  Resource: '*',
  Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
})

const keysWithStatement = (template: Template) =>
  Object.keys(
    template.findResources('AWS::KMS::Key', {
      Properties: { KeyPolicy: { Statement: Match.arrayWith([snsMayUseTheKey]) } },
    }),
  ).map((id) => id.replace(/[0-9A-F]{8}$/, ''))

const arnOf = (id: string) => ({ 'Fn::GetAtt': [Match.stringLikeRegexp(`^${id}`), 'Arn'] })

describe('with a key of the customer', () => {
  const withKey = () => synthesize((stack) => addShop(stack, new Key(stack, 'Key')))

  it('table, topic and every queue are encrypted with it', () => {
    const template = withKey()
    template.hasResourceProperties('AWS::DynamoDB::Table', {
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: arnOf('Key') },
    })
    template.allResourcesProperties('AWS::SNS::Topic', { KmsMasterKeyId: Match.anyValue() })
    template.resourceCountIs('AWS::SQS::Queue', 8)
    template.allResourcesProperties('AWS::SQS::Queue', { KmsMasterKeyId: arnOf('Key') })
  })

  it('its policy lets SNS deliver to encrypted queues', () => {
    expect(keysWithStatement(withKey())).toEqual(['Key'])
  })

  it('a receiver may have another key, whose policy gets the same statement', () => {
    const template = synthesize((stack) => addShop(stack, new Key(stack, 'Key'), new Key(stack, 'BillingKey')))
    expect(keysWithStatement(template).sort()).toEqual(['BillingKey', 'Key'])
    const encrypted = template.findResources('AWS::SQS::Queue', {
      Properties: { KmsMasterKeyId: arnOf('BillingKey') },
    })
    expect(Object.keys(encrypted).every((id) => id.startsWith('Billing'))).toBe(true)
    expect(Object.keys(encrypted)).toHaveLength(3)
  })

  it('an imported key, whose policy can not be changed, is warned about', () => {
    const stack = new Stack(new App(), 'Shop')
    const keyArn = 'arn:aws:kms:us-east-1:123456789012:key/00000000-0000-4000-8000-000000000000'
    addShop(stack, Key.fromKeyArn(stack, 'Key', keyArn))
    Annotations.fromStack(stack).hasWarning(
      '/Shop/Delivery',
      Match.stringLikeRegexp('allow sns.amazonaws.com kms:Decrypt'),
    )
    Template.fromStack(stack).resourceCountIs('AWS::KMS::Key', 0)
  })
})

it('without a key, queues have SQS-managed encryption and no key is paid for', () => {
  const template = synthesize((stack) => addShop(stack, undefined))
  template.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true, KmsMasterKeyId: Match.absent() })
  template.resourceCountIs('AWS::KMS::Key', 0)
  expect(JSON.stringify(template.toJSON())).not.toContain('kms:')
})
