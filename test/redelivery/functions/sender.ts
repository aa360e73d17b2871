import type { Message } from '../../../lib/core/message.js'
import type { SendOptions } from '../../../lib/core/options.js'
import { busFromEnvironment } from '../../../lib/lambda/environment.js'

const bus = busFromEnvironment()

/** Sends what it is called with; answers the receipt. */
export const handler = ({ message, options = {} }: { message: Message; options?: SendOptions }) =>
  bus.send(message, options)
