import { Stack } from 'aws-cdk-lib'
import { Key } from 'aws-cdk-lib/aws-kms'
import { beforeAll, describe, expect, it } from 'vitest'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import { MessageReceiver } from '../../lib/constructs/message-receiver.js'
import { permissionsOf } from './roles.js'
import { bundleFunctions, environmentOf, synthesize, synthesizeAll, userFunction } from './synthesize.js'

beforeAll(bundleFunctions)

const attributes = {
  busName: 'orders',
  tableName: 'orders-table',
  topicArn: 'arn:aws:sns:eu-west-1:123456789012:orders-topic',
  wakeQueue: {
    queueArn: 'arn:aws:sqs:eu-west-1:123456789012:orders-hints',
    queueUrl: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders-hints',
  },
}

describe('a delivery of another stack', () => {
  it('connects a function by names alone, with the same permissions', () => {
    const template = synthesize((stack) => {
      DelayedDelivery.fromAttributes(stack, 'Delivery', attributes).connect(userFunction(stack, 'Orders'))
    })
    expect(environmentOf(template, 'Orders')).toEqual({
      POSTDATE_BUS_NAME: 'orders',
      POSTDATE_TABLE_NAME: 'orders-table',
      POSTDATE_TOPIC_ARN: attributes.topicArn,
      POSTDATE_WAKE_QUEUE_URL: attributes.wakeQueue.queueUrl,
    })
    const table = 'arn:AWS::Partition:dynamodb:AWS::Region:AWS::AccountId:table/orders-table'
    expect(permissionsOf(template).OrdersServiceRole).toEqual([
      `dynamodb:BatchGetItem on ${table} of due#* body#* control`,
      `dynamodb:GetItem on ${table} of due#* body#* control`,
      `dynamodb:PartiQLInsert on ${table} of due#* body#*`,
      `sns:Publish on ${attributes.topicArn}`,
      `sqs:SendMessage on ${attributes.wakeQueue.queueArn}`,
    ])
  })

  it('makes nothing but the subscription, the queues and the source of its own receivers', () => {
    const template = synthesize((stack) => {
      const delivery = DelayedDelivery.fromAttributes(stack, 'Delivery', attributes)
      const handler = userFunction(stack, 'Handler')
      new MessageReceiver(stack, 'Mailing', { delivery, name: 'mailing', handler, messages: ['orders/placed'] })
    })
    template.resourceCountIs('AWS::DynamoDB::Table', 0)
    template.resourceCountIs('AWS::SNS::Topic', 0)
    template.resourceCountIs('AWS::SQS::Queue', 3)
    template.hasResourceProperties('AWS::SNS::Subscription', {
      TopicArn: attributes.topicArn,
      FilterPolicy: { route: ['orders/placed', '@mailing'] },
    })
  })

  it('is given whole by the attributes of the construct, across stacks of one app', () => {
    const [shop, partner] = synthesizeAll((app) => {
      const first = new Stack(app, 'Shop')
      const encryptionKey = new Key(first, 'Key')
      const made = new DelayedDelivery(first, 'Delivery', { busName: 'orders', encryptionKey })
      const second = new Stack(app, 'Partner')
      DelayedDelivery.fromAttributes(second, 'Delivery', made.attributes).connect(userFunction(second, 'Orders'))
      return [first, second]
    })
    const outputs = Object.values<{ Export?: unknown }>(shop?.toJSON().Outputs ?? {})
    expect(outputs.filter(({ Export }) => Export !== undefined)).toHaveLength(5)
    const imported = JSON.stringify(partner?.toJSON()).match(/"Fn::ImportValue":"[^"]+"/g) ?? []
    expect(new Set(imported).size).toBe(5)
    const lines = partner === undefined ? [] : (permissionsOf(partner).OrdersServiceRole ?? [])
    expect(lines.filter((line) => line.startsWith('kms:'))).toHaveLength(7)
  })

  it('has the metrics of the bus and the table', () => {
    synthesize((stack) => {
      const delivery = DelayedDelivery.fromAttributes(stack, 'Delivery', attributes)
      expect(delivery.metricBacklogAge().dimensions).toEqual({ Bus: 'orders', Table: 'orders-table' })
    })
  })
})
