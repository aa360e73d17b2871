import { Token } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import { refuseProps } from './refuse-props.js'

/** A message's name, or a definition that has it: what `defineCommand` and `defineEvent` make. */
export type MessageName = string | { readonly $name: string }

/** A receiver and the names of the messages that it takes. */
export interface ReceiverRoutes {
  readonly name: string
  readonly messages: readonly MessageName[]
}

/**
 * The most values in the filter of a subscription.
 * @see https://docs.aws.amazon.com/sns/latest/dg/subscription-filter-policy-constraints.html
 */
export const MOST_ROUTES = 150

const MESSAGE_NAME = /^[\w./:-]{1,256}$/

/**
 * The names of messages, sorted.
 * @throws Error for one that is none, is known only at deployment, or is there twice
 */
export const namesOf = (scope: IConstruct, messages: readonly MessageName[]): readonly string[] => {
  const names = messages.map((message) => (typeof message === 'string' ? message : message.$name))
  for (const name of names)
    if (Token.isUnresolved(name) || !MESSAGE_NAME.test(name))
      throw refuseProps(scope, `${JSON.stringify(name)} is no message name: 1 to 256 letters, digits and _ . / : -`)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw refuseProps(scope, `the message ${twice} is there twice`)
  return names.sort()
}

/**
 * The routes that a receiver's subscription lets through: its messages, and its own redeliveries.
 * @throws Error when there are none, or more than a filter may have
 */
export const routesOf = (scope: IConstruct, { name, messages }: ReceiverRoutes): readonly string[] => {
  if (messages.length === 0) throw refuseProps(scope, `the receiver ${name} takes no messages`)
  const routes = [...namesOf(scope, messages), `@${name}`]
  if (routes.length > MOST_ROUTES) {
    const rule = `a subscription's filter has at most ${MOST_ROUTES} values, one of which is for redeliveries`
    throw refuseProps(
      scope,
      `the receiver ${name} takes ${messages.length} messages: ${rule}; make two receivers of it`,
    )
  }
  return routes
}
