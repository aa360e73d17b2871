import type { JsonObject } from '../../../lib/local/assembly/template.js'
import type { ShopTemplate } from './synthesize-shop.js'

type Statement = Record<string, unknown>

interface PolicyProperties {
  readonly PolicyDocument: { Statement: Statement[] }
}

/** The properties of the resource of a type whose logical id begins so. @throws Error when there is not exactly one */
export const propertiesOf = ({ Resources }: ShopTemplate, type: string, idPrefix: string): Record<string, unknown> => {
  const found = Object.entries(Resources).filter(
    ([id, resource]) => resource.Type === type && new RegExp(`^${idPrefix}[0-9A-F]{8}$`).test(id),
  )
  const [only] = found
  if (only === undefined || found.length > 1) throw new Error(`${found.length} of ${type} ${idPrefix}`)
  return only[1].Properties as Record<string, unknown>
}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** Takes one action from the policy of a role. @throws Error when the role does not have it */
export const removeGrant = (template: ShopTemplate, role: string, action: string): void => {
  const { PolicyDocument: document } = propertiesOf(
    template,
    'AWS::IAM::Policy',
    `${role}DefaultPolicy`,
  ) as unknown as PolicyProperties
  if (!document.Statement.some(({ Action }) => asList(Action).includes(action)))
    throw new Error(`${role} may not ${action} as it is`)
  document.Statement = document.Statement.map((statement) => ({
    ...statement,
    Action: asList(statement.Action).filter((one) => one !== action),
  })).filter(({ Action }) => Action.length > 0)
}

/** Takes from the policy of a queue what lets a topic send to it. @throws Error when nothing does */
export const forgetTopic = (template: ShopTemplate, queue: string): void => {
  const { PolicyDocument: document } = propertiesOf(
    template,
    'AWS::SQS::QueuePolicy',
    `${queue}Policy`,
  ) as unknown as PolicyProperties
  const others = document.Statement.filter(({ Effect }) => Effect !== 'Allow')
  if (others.length === document.Statement.length) throw new Error(`no topic may send to ${queue} as it is`)
  document.Statement = others
}

/** The variables of a function's environment, to be changed. */
export const environmentOf = (template: ShopTemplate, fn: string): Record<string, unknown> =>
  (propertiesOf(template, 'AWS::Lambda::Function', fn).Environment as { Variables: Record<string, unknown> }).Variables

/** The values of the filter of a subscription, to be changed. */
export const filterOf = (template: ShopTemplate, subscription: string): { route: unknown[] } =>
  propertiesOf(template, 'AWS::SNS::Subscription', subscription).FilterPolicy as JsonObject as { route: unknown[] }
