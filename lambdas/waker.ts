import { dispatchPartsFromEnvironment } from '../lib/lambda/environment.js'
import { createWakerHandler } from '../lib/lambda/waker-handler.js'

/** Publishes what falls due within seconds while no dispatcher is awake. It reads the queue of wake hints. */
export const handler = createWakerHandler(dispatchPartsFromEnvironment())
