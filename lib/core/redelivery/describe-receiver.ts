import type { Handler, Receiver } from '../receiver.js'
import { describePolicy, formatDuration } from './describe-redelivery.js'
import { settleRedelivery } from './redelivery-policy.js'

const describeHandler = ({ messageName, version }: Handler): string =>
  version === undefined ? messageName : `${messageName} (up to version ${version})`

/**
 * The effective configuration of a receiver as text: what it handles, and what becomes of messages whose handlers fail.
 * @example
 * console.log(describeReceiver(defineReceiver('billing', [handlerFor(PlaceOrder, placeOrder)])))
 */
export const describeReceiver = (receiver: Receiver): string => {
  const { name, handlers, incoming = [], inbox, redelivery = settleRedelivery() } = receiver
  return [
    `receiver     ${name}`,
    `handles      ${[...handlers.values()].map(describeHandler).join(', ') || 'nothing'}`,
    `incoming     ${incoming.length === 0 ? 'none' : `${incoming.length} middleware`}`,
    `inbox        ${inbox === undefined ? 'none' : `${inbox.name}, for ${formatDuration(inbox.retentionMs)}`}`,
    ...describePolicy(redelivery),
  ].join('\n')
}
