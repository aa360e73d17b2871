import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Key } from 'aws-cdk-lib/aws-kms'
import { beforeAll, describe, expect, it } from 'vitest'
import { DelayedDelivery } from '../../lib/constructs/delayed-delivery.js'
import { MessageReceiver } from '../../lib/constructs/message-receiver.js'
import {
  dispatcherPermissions,
  managePermissions,
  recallPermissions,
  senderPermissions,
  wakerPermissions,
} from '../../lib/constructs/permissions.js'
import { aliasKey, bodyKey, controlKey, deadPartition, duePartition, movedKey } from '../../lib/dynamodb/keys.js'
import { permissionsOf } from './roles.js'
import { bundleFunctions, projectRoot, synthesize, userFunction } from './synthesize.js'

beforeAll(bundleFunctions)

const SENDER = [
  'dynamodb:BatchGetItem on DeliveryTable of due#* body#* control',
  'dynamodb:GetItem on DeliveryTable of due#* body#* control',
  'dynamodb:PartiQLInsert on DeliveryTable of due#* body#*',
  'sns:Publish on DeliveryTopic',
  'sqs:SendMessage on DeliveryHints',
]

const FINISHING_MOVES = [
  'dynamodb:GetItem on DeliveryTable of due#* dead#* key#*',
  'dynamodb:PartiQLDelete on DeliveryTable of due#* dead#*',
  'dynamodb:PartiQLUpdate on DeliveryTable of due#* key#*',
  'dynamodb:PutItem on DeliveryTable of key#*',
  'dynamodb:UpdateItem on DeliveryTable of due#* moved#*',
]

const DISPATCHING = [
  ...FINISHING_MOVES,
  'dynamodb:BatchGetItem on DeliveryTable of due#* body#*',
  'dynamodb:DeleteItem on DeliveryTable of due#* body#*',
  'dynamodb:GetItem on DeliveryTable of control',
  'dynamodb:PutItem on DeliveryTable of dead#*',
  'dynamodb:Query on DeliveryTable of due#*',
  'dynamodb:UpdateItem on DeliveryTable of body#*',
  'sns:Publish on DeliveryTopic',
]

const RECALLER = [
  ...FINISHING_MOVES,
  'dynamodb:DeleteItem on DeliveryTable of due#* body#*',
  'dynamodb:GetItem on DeliveryTable of moved#*',
  'dynamodb:PartiQLInsert on DeliveryTable of body#*',
  'dynamodb:PutItem on DeliveryTable of due#*',
  'dynamodb:UpdateItem on DeliveryTable of dead#* body#* key#*',
]

const INBOX = ['DeleteItem', 'GetItem', 'PutItem', 'UpdateItem'].map(
  (action) => `dynamodb:${action} on DeliveryTable of inbox#*`,
)

const polling = (queue: string) =>
  ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'].map((action) => `${action} on ${queue}`)

const logging = (logs: string) => ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => `${action} on ${logs}`)

/** What each role of a delivery may do; nothing that is not here. */
const TABLE: Readonly<Record<string, readonly string[]>> = {
  OrdersServiceRole: SENDER,
  RecallerServiceRole: RECALLER,
  ConnectedServiceRole: [...new Set([...SENDER, ...RECALLER, ...INBOX])],
  OperatorServiceRole: [
    ...RECALLER,
    'dynamodb:BatchGetItem on DeliveryTable of body#*',
    'dynamodb:DeleteItem on DeliveryTable of dead#*',
    'dynamodb:GetItem on DeliveryTable of control',
    'dynamodb:PutItem on DeliveryTable of control',
    'dynamodb:PutItem on DeliveryTable of dead#*',
    'dynamodb:Query on DeliveryTable of due#* dead#*',
    'sqs:SendMessage on DeliveryHints',
  ],
  BillingFunctionServiceRole: [...SENDER, ...polling('BillingQueue'), 'sqs:SendMessage on BillingDeadLetters'],
  OnceFunctionServiceRole: INBOX,
  DeliveryDispatcherRole: [
    ...DISPATCHING,
    'dynamodb:PutItem on DeliveryTable of control',
    'dynamodb:Query on DeliveryTable of dead#*',
    'dynamodb:UpdateItem on DeliveryTable of control',
    ...logging('DeliveryDispatcherLogs'),
  ],
  DeliveryWakerRole: [...DISPATCHING, ...polling('DeliveryHints'), ...logging('DeliveryWakerLogs')],
  DeliveryTickRole: [
    'lambda:InvokeFunction on DeliveryDispatcherFunction',
    'sqs:SendMessage on DeliveryTickDeadLetters',
  ],
}

const synthesizeShop = (props: { customerKey?: boolean; mode?: 'minute'; context?: Record<string, unknown> } = {}) =>
  synthesize((stack) => {
    const encryptionKey = props.customerKey ? new Key(stack, 'Key') : undefined
    const mode = props.mode ?? 'second'
    const delivery = new DelayedDelivery(stack, 'Delivery', { busName: 'orders', mode, encryptionKey })
    delivery.connect(userFunction(stack, 'Orders'))
    delivery.grantRecall(userFunction(stack, 'Recaller'))
    delivery.grantInbox(userFunction(stack, 'OnceFunction'))
    delivery.grantManage(userFunction(stack, 'Operator'))
    delivery.connect(userFunction(stack, 'Connected'), { recall: true, inbox: true })
    const handler = userFunction(stack, 'BillingFunction')
    new MessageReceiver(stack, 'Billing', { delivery, name: 'billing', handler, messages: ['orders/place'] })
  }, props.context)

describe('the roles of a delivery', () => {
  it('may do what this table says, and nothing else', () => {
    const sorted = Object.entries(TABLE).map(([role, lines]) => [role, [...lines].sort()])
    expect(permissionsOf(synthesizeShop())).toEqual(Object.fromEntries(sorted))
  })

  it('are the same in an app that `cdk init` has made today, with all its feature flags', () => {
    const context = JSON.parse(
      readFileSync(join(projectRoot, 'node_modules/aws-cdk-lib/recommended-feature-flags.json'), 'utf8'),
    ) as Record<string, unknown>
    expect(Object.keys(context).length).toBeGreaterThan(50)
    expect(permissionsOf(synthesizeShop({ context }))).toEqual(permissionsOf(synthesizeShop()))
  })

  it('have no wildcard, neither in an action nor as a resource', () => {
    for (const template of [synthesizeShop(), synthesizeShop({ customerKey: true, mode: 'minute' })]) {
      const lines = Object.values(permissionsOf(template)).flat()
      expect(lines.length).toBeGreaterThan(30)
      expect(lines.filter((line) => /^\S*\*|on \*/.test(line))).toEqual([])
    }
  })

  it('need no hints in the mode of minutes', () => {
    const roles = permissionsOf(synthesizeShop({ mode: 'minute' }))
    expect(roles.OrdersServiceRole).toEqual(SENDER.filter((line) => !line.startsWith('sqs:')))
    expect(Object.keys(roles)).not.toContain('DeliveryWakerRole')
  })

  it('may use a customer key through the services that it encrypts for, and in no other way', () => {
    const roles = permissionsOf(synthesizeShop({ customerKey: true }))
    const keyLines = (role: string) => roles[role]?.filter((line) => line.startsWith('kms:')) ?? []
    const through = (...services: string[]) =>
      ` on Key if kms:ViaService StringEquals ${services.map((one) => `${one}.AWS::Region.amazonaws.com`).join(' ')}`
    const all = [
      ...['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'],
      ...['kms:GenerateDataKeyWithoutPlaintext', 'kms:ReEncryptFrom', 'kms:ReEncryptTo'],
    ].map((action) => action + through('dynamodb', 'sns', 'sqs'))
    for (const role of ['OrdersServiceRole', 'RecallerServiceRole', 'DeliveryDispatcherRole', 'DeliveryWakerRole'])
      expect(keyLines(role)).toEqual(all)
    expect(keyLines('BillingFunctionServiceRole')).toEqual(
      [...all, `kms:Decrypt${through('sqs')}`, `kms:GenerateDataKey${through('sqs')}`].sort(),
    )
    expect(keyLines('DeliveryTickRole')).toEqual(
      ['kms:Decrypt', 'kms:GenerateDataKey'].map((one) => one + through('sqs')),
    )
  })
})

it('the partitions in permissions are those that the persistence has', () => {
  const keys = [
    bodyKey('id', 'sk'),
    controlKey('worker'),
    movedKey({ shard: 0, dueAt: 0, rowId: 'id' }),
    aliasKey('key'),
  ]
  const partitions = [duePartition(0), deadPartition(0), ...keys.map(({ pk }) => pk)]
  const patterns = [senderPermissions, recallPermissions, managePermissions, dispatcherPermissions, wakerPermissions]
    .flat()
    .flatMap((permission) => permission.partitions)
  for (const pattern of patterns) {
    const matches = (partition: string) =>
      pattern.endsWith('*') ? partition.startsWith(pattern.slice(0, -1)) : partition === pattern
    expect(partitions.filter(matches)).toHaveLength(1)
  }
})
