import { createDispatcherHandler } from '../lib/lambda/dispatcher-handler.js'
import { dispatchPartsFromEnvironment } from '../lib/lambda/environment.js'

/** Publishes what is due. A schedule calls it every minute; clients are made here, once for all calls. */
export const handler = createDispatcherHandler(dispatchPartsFromEnvironment())
