export type {
  PersistenceUnderTest,
  ScheduledMessageTest,
  ScheduledMessageTestOptions,
} from './testing/scheduled-message-tests.js'
export { scheduledMessageTests } from './testing/scheduled-message-tests.js'
export type { VirtualClock } from './testing/virtual-clock.js'
export { createVirtualClock } from './testing/virtual-clock.js'
